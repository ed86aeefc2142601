-- take.lua: grants a name of which nothing exists; the short way of claim.lua, at half its cost.
--
-- KEYS[1]  the head, KEYS[2] the counter, as in table.lua
-- ARGV[1]  the start of a solo head: 'h', the owner, and the record up to its number
-- ARGV[2]  the part of the record between the grant's time and its end
-- ARGV[3]  term  in milliseconds: lease and delay
-- ARGV[4]  seen  largest number of the bucket that the client knows
--
-- Returns the number, or 0 if the name is not simply free or the numbers are used up: claim.lua then
-- says what there is to say. The record is put together from what the client has packed, because
-- packing it here would cost as much as all the rest.

local clock = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[2]) or 0)
local number = math.max(
  last + 1, ARGV[4] + 1, math.floor((clock[1] - 1735689600) * 16000 + clock[2] * 16 / 1000))
if number > 35184372088831 then -- As in number.lua.
  return 0
end
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local head = ARGV[1] .. cmsgpack.pack(number, now) .. ARGV[2] .. cmsgpack.pack(now + ARGV[3])
if not redis.call('SET', KEYS[1], head, 'NX', 'PX', ARGV[3]) then
  return 0
end
redis.call('SET', KEYS[2], string.format('%.0f', number))
return number
