-- find.lua: the value of a key.
--
-- KEYS[1]  the value   see begin.lua
--
-- Returns {} if there is none, or {value, fresh_ms, keep_ms}: for how long it is fresh (negative: since
-- when it is not), and for how long it is kept.

local found = redis.call('HMGET', KEYS[1], 'v', 'f')
if not found[1] then
  return {}
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
return {found[1], found[2] - now, redis.call('PTTL', KEYS[1])}
