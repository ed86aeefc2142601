-- redlock_survey.lua: what one node of a Redlock remembers, for those that have forgotten.
--
-- KEYS     state and index, as in redlock_name.lua
-- ARGV[1]  run
--
-- Returns {votes, longest_ms, bucket, number, bucket, number...}: whether it votes, for how long the
-- longest grant that it knows still runs, and the counters.

--@include number.lua

local fields = redis.call('HGETALL', KEYS[1])
local votes, longest, counters = 0, 0, {}
for i = 1, #fields, 2 do
  if fields[i] == 'run' then
    votes = fields[i + 1] == ARGV[1] and 1 or 0
  elseif fields[i] == 'longest' then
    longest = tonumber(fields[i + 1])
  elseif tonumber(fields[i]) then
    counters[#counters + 1] = tonumber(fields[i])
    counters[#counters + 1] = tonumber(fields[i + 1])
  end
end
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
local runs = last[2] and math.max(0, math.min(last[2] - now, longest)) or 0
return {votes, runs, unpack(counters)}
