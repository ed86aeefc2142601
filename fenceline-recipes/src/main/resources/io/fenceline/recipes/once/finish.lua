-- finish.lua: stores the result of a worker that was not overtaken.
--
-- KEYS[1]  the record    see begin.lua
-- ARGV[1]  token         that has begun
-- ARGV[2]  token         that the record has afterwards: the same, or that of whoever settles it
-- ARGV[3]  state         2 or 3
-- ARGV[4]  result
-- ARGV[5]  retention_ms  the record expires after it
--
-- Returns 1 if the result is stored, now or by the same before; 0 if the record is not begun by the
-- token: another worker has taken it over, or it is gone. It is never made anew.

local found = redis.call('HMGET', KEYS[1], 's', 't')
if found[1] == '1' and found[2] == ARGV[1] then
  redis.call('HSET', KEYS[1], 's', ARGV[3], 't', ARGV[2], 'r', ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
  return 1
end
if found[1] == ARGV[3] and found[2] == ARGV[2] then
  return 1
end
return 0
