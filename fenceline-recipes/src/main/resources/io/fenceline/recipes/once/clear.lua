-- clear.lua: removes the record of a worker that has had no effect.
--
-- KEYS[1]  the record  see begin.lua
-- ARGV[1]  token       that has begun
--
-- Returns 1 if it was there. A record of another token, or one that is finished, stays.

local found = redis.call('HMGET', KEYS[1], 's', 't')
if found[1] == '1' and found[2] == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
