-- put.lua: stores a value, if nobody has begun to load a newer one.
--
-- KEYS[1]  the value   see begin.lua
-- ARGV[1]  token       that has begun to load
-- ARGV[2]  value
-- ARGV[3]  fresh_ms    for how long it is fresh
-- ARGV[4]  keep_ms     for how long it is kept, as a stale value
--
-- Returns 1 if it is stored, 0 if it is refused: another one has begun since, or the load took too long
-- and nothing is known any more. It is never stored without a beginning: an older value could come
-- after a newer one has expired.

if redis.call('HGET', KEYS[1], 't') ~= ARGV[1] then
  return 0
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'f', string.format('%d', now + tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
