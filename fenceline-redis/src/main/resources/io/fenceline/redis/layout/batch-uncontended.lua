-- batch-uncontended.lua: many of claim-uncontended.lua and release-uncontended.lua, for the cost of one
-- script.
--
-- KEYS     of each claim the head and the counter, then of each release the head
-- ARGV[1]  how many claims there are; then the four arguments of each claim as in
--          claim-uncontended.lua, then the one of each release as in release-uncontended.lua
--
-- Returns what these two would, in this order. What a server refuses of this (memory, disk, no longer the
-- master) it refuses at the first write already: so all is done, or nothing.

local claims = tonumber(ARGV[1])
local answers = {}

if claims > 0 then
  local clock = redis.call('TIME')
  local by_clock = math.floor((clock[1] - 1735689600) * 16000 + clock[2] * 16 / 1000)
  local counters = {}
  for i = 1, claims do
    counters[i] = KEYS[2 * i]
  end
  local found = redis.call('MGET', unpack(counters))
  local last = {}
  for i = 1, claims do
    last[counters[i]] = tonumber(found[i] or 0)
  end
  local written = {}
  for i = 1, claims do
    local counter, first = counters[i], 4 * i - 2
    local term = ARGV[first + 2]
    local number = math.max(last[counter] + 1, ARGV[first + 3] + 1, by_clock)
    answers[i] = 0
    if number <= 35184372088831 then -- As in number.lua.
      local digits = number .. ''
      local head = ARGV[first] .. digits .. ARGV[first + 1]
      if redis.call('SET', KEYS[2 * i - 1], head, 'NX', 'PX', term) then
        last[counter] = number
        answers[i] = number
        written[#written + 1] = counter
        written[#written + 1] = digits
      end
    end
  end
  if #written > 0 then
    redis.call('MSET', unpack(written)) -- Where a counter comes twice, its last number counts.
  end
end

local releases = {}
for i = 2 * claims + 1, #KEYS do
  releases[#releases + 1] = KEYS[i]
end
if #releases > 0 then
  local heads = redis.call('MGET', unpack(releases))
  local ended = {}
  for i, key in ipairs(releases) do
    local head = heads[i]
    local answer = 0
    if head and string.sub(head, 1, 17) == ARGV[4 * claims + 1 + i] then
      ended[#ended + 1] = key
      answer = 1
    elseif head and string.sub(head, 1, 1) == 't' then
      answer = 2
    end
    answers[#answers + 1] = answer
  end
  if #ended > 0 then
    redis.call('DEL', unpack(ended))
  end
end
return answers
