-- begin.lua: the second look, under the lock; and notes who loads if there is nothing fresh.
--
-- KEYS[1]  the value   flc1:NAME:KEY  hash: v value, f milliseconds since 1970 until which it is fresh,
--          t token of the last one who began to load
-- ARGV[1]  token       19 digits: compared as text, since a number of Lua has only 53 bits
-- ARGV[2]  longest_ms  how long a load may take; then its value is not taken any more
--
-- Returns {1} if this one loads, {0} if one with a larger token has begun, or {2, value, fresh_ms} if
-- there is a fresh value.
--
-- A repeat by the same token changes nothing.

local found = redis.call('HMGET', KEYS[1], 'v', 'f', 't')
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if found[1] and tonumber(found[2]) > now then
  return {2, found[1], found[2] - now}
end
if found[3] and found[3] > ARGV[1] then
  return {0}
end
redis.call('HSET', KEYS[1], 't', ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {1}
