-- redlock-survey.lua: what one node of a Redlock remembers, for those that have forgotten.
--
-- KEYS     state and index, as in redlock-name.lua
-- ARGV[1]  run
-- ARGV[2]  loss   a new name for the loss of memory, if this is the first to hear of it
--
-- Returns {votes, loss, left_ms, late, term_ms, {owner, number, ms...}, {bucket, number...}}: whether it
-- votes; if not, the name of its loss of memory, else an empty string; for how long it does not vote, -1 if
-- nobody has said so yet; 1 if half of that time is over; the longest term of the grants that it knows and that run; the holds that were ended by
-- force, and for how long that matters; and the counters.
--
-- The whole term counts, not what is left of it here: the node that has forgotten may have renewed a grant
-- that is yet to be renewed here.
--
-- A loss of memory has a name, so that it can be told from a later one: redlock-admit.lua has to give it.

--@include number.lua

local fields = redis.call('HGETALL', KEYS[1])
local state, longest, forced, counters = {}, 0, {}, {}
for i = 1, #fields, 2 do
  local field, value = fields[i], fields[i + 1]
  local letter = string.sub(field, 1, 1)
  if tonumber(field) then
    counters[#counters + 1] = tonumber(field)
    counters[#counters + 1] = tonumber(value)
  elseif letter == 't' then
    local term, last = string.match(value, '^(%d+) (%d+)$')
    if tonumber(last) > now then
      longest = math.max(longest, tonumber(term))
    else
      redis.call('HDEL', KEYS[1], field)
    end
  elseif letter == 'f' then
    local number, ends, term = string.match(value, '^(%d+) (%d+) (%d+)$')
    local left = math.min(ends - now, tonumber(term))
    if left > 0 then
      forced[#forced + 1] = string.sub(field, 2)
      forced[#forced + 1] = tonumber(number)
      forced[#forced + 1] = left
    else
      redis.call('HDEL', KEYS[1], field)
    end
  else
    state[field] = value
  end
end
local votes, loss, left, late = 0, '', -1, 0
if state.run == ARGV[1] then
  votes, left = 1, 0
else
  loss = state.loss
  if state.waits ~= ARGV[1] or not loss then
    loss = ARGV[2]
    redis.call('HDEL', KEYS[1], 'until', 'wait', 'sure', 'counted')
    redis.call('HSET', KEYS[1], 'waits', ARGV[1], 'loss', loss, 'since', now)
  elseif state['until'] then
    left = math.max(0, math.min(state['until'] - now, tonumber(state.wait)))
    late = 2 * left <= tonumber(state.wait) and 1 or 0
  end
end
return {votes, loss, left, late, longest, forced, counters}
