-- redlock-admit.lua: lets a node of a Redlock vote again that was restarted or emptied, or for the first
-- time: after a while, and with what those know that remember.
--
-- KEYS[1]  the state, as in redlock-name.lua. While the node does not vote it has 'waits', the run that
--          waits; 'loss', the name of its loss of memory, and 'since', when it was given; 'until', until
--          when it waits, and 'wait', for how long at most; 'sure', 1 if that is known from others; and
--          'counted', 1 if their counters were taken late enough
-- ARGV[1]  run
-- ARGV[2]  loss   as redlock-survey.lua named it
-- ARGV[3]  wait   how long a grant may run that the node had made, in milliseconds
-- ARGV[4]  sure   1 if a majority that votes says so, 0 if it is what one client knows or guesses
-- ARGV[5]  late   1 if others were asked when half of the wait was over
-- ARGV[6]  forced how many holds were ended by force, of which others know
-- ARGV[7]  owner, number, ms of each of these; then bucket, number, bucket, number, and so on
--
-- Returns 0 if it votes now, else for how many milliseconds it does not; -1 if it has lost its memory
-- again since: what others know has to be asked for anew.
--
-- What a majority says is final: grants that others know of later were made without this node, or were
-- restored to it. All of it is kept here, so that nobody who remembers is needed when the time has come. A
-- guess may still be corrected by who knows of longer grants. The time counts from when the loss of memory
-- was noticed: what the node had granted ends no later than a term after that.
--
-- Counters have to be asked for late: a token that this node had confirmed may be written to the others
-- afterwards, but not after half of its lease. If no majority can be asked any more, the node votes a
-- minute later, and its numbers go on from its clock.

--@include number.lua

local UNCOUNTED = 60000
local run, wait, sure, late, forced = ARGV[1], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local state =
  redis.call('HMGET', KEYS[1], 'run', 'waits', 'loss', 'until', 'wait', 'since', 'sure', 'counted')
if state[1] == run then
  return 0
end
if state[2] ~= run or state[3] ~= ARGV[2] then
  return -1
end
for i = 7, 3 * forced + 6, 3 do
  local field, number, left = 'f' .. ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local known = tonumber(string.match(redis.call('HGET', KEYS[1], field) or '', '^%d+') or 0)
  if number > known then
    redis.call('HSET', KEYS[1], field, string.format('%.0f %.0f %.0f', number, now + left, left))
  end
end
for i = 3 * forced + 7, #ARGV, 2 do
  local last = tonumber(redis.call('HGET', KEYS[1], ARGV[i])) or 0
  if tonumber(ARGV[i + 1]) > last then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end

local since = math.min(now, tonumber(state[6] or now))
local ends, longest = tonumber(state[4] or 0), tonumber(state[5] or 0)
ends = math.min(ends, now + longest) -- The clock may have been set back.
if state[7] ~= '1' then
  ends, longest = math.max(ends, since + wait), math.max(longest, wait)
end
local counted = state[8] == '1' or (sure == '1' and (late == '1' or longest == 0))
sure = state[7] == '1' or sure == '1'
local left = ends - now
if sure and not counted then
  left = left + UNCOUNTED
end
if left > 0 then
  redis.call(
    'HSET', KEYS[1], 'until', ends, 'wait', longest, 'sure', sure and 1 or 0, 'counted', counted and 1 or 0)
  return left
end
redis.call('HDEL', KEYS[1], 'waits', 'loss', 'since', 'until', 'wait', 'sure', 'counted')
redis.call('HSET', KEYS[1], 'run', run)
return 0
