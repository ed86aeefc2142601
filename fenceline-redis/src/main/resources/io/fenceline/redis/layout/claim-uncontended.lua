-- claim-uncontended.lua: grants a name of which nothing exists; the short way of claim.lua, at half its cost.
--
-- KEYS[1]  the head, KEYS[2] the counter, as in table.lua
-- ARGV[1]  'h' and the owner
-- ARGV[2]  a space and the facts of a solo head
-- ARGV[3]  term  in milliseconds: lease and delay
-- ARGV[4]  seen  largest number of the bucket that the client knows
--
-- Returns the number, or 0 if the name is not simply free or the numbers are used up: claim.lua then
-- says what there is to say. The clock is nearly always ahead of the counter, so the head is written
-- with the clock's number before the counter is asked, and again if the counter knows better.

local clock = redis.call('TIME')
local number = (clock[1] - 1735689600) * 16000 + clock[2] * 16 / 1000
number = number - number % 1 -- Functions of 'math' would be looked up and called.
if number <= ARGV[4] + 0 then
  number = ARGV[4] + 1
end
if number > 35184372088831 then -- As in number.lua.
  return 0
end
local digits = number .. '' -- Once for both: Redis would print it more slowly.
if not redis.call('SET', KEYS[1], ARGV[1] .. digits .. ARGV[2], 'NX', 'PX', ARGV[3]) then
  return 0
end
local last = tonumber(redis.call('GETSET', KEYS[2], digits) or 0)
if last < number then
  return number
end
if last >= 35184372088831 then
  redis.call('SET', KEYS[2], last)
  redis.call('DEL', KEYS[1])
  return 0
end
number = last + 1
redis.call('SET', KEYS[2], number)
redis.call('SET', KEYS[1], ARGV[1] .. number .. ARGV[2], 'PX', ARGV[3])
return number
