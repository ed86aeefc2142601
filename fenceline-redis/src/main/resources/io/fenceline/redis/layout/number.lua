-- number.lua: the clock, and the numbers that grants carry. Included by scripts that grant.
--
-- A number is max(last + 1, clock), where the clock counts sixteenths of a millisecond since 2025.
-- So numbers rise while the counter is there, and also when it was lost, as long as the clock of
-- whoever counts on is not behind the last grant. The client sends along the largest number that it
-- has seen of the bucket, which covers a lost counter even then.
local LARGEST_NUMBER = 35184372088831 -- 2^45 - 1; with the hand-off number, tokens stay below 2^53.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function next_number(last, seen)
  local by_clock = math.floor((clock[1] - 1735689600) * 16000 + clock[2] * 16 / 1000)
  return math.max((tonumber(last) or 0) + 1, (tonumber(seen) or 0) + 1, by_clock)
end
