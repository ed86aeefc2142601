-- strict.lua: takes permits of a limit that holds in every window, now or at a later moment.
--
-- KEYS[1]  the limit    flr1:NAME  list: "mark before after" for each mark, then the state, which is
--          "1 period seen shift"; expires when the last permit has left the window
-- ARGV[1]  n            how many permits a window may have
-- ARGV[2]  k            how many are asked for, at most n
-- ARGV[3]  period       the length of the window; all times are in microseconds
-- ARGV[4]  grain        marks are this far apart at least
-- ARGV[5]  longest      the longest wait that is accepted; 0 for now or never, -1 to take nothing
--
-- Returns {1, wait, at} if they are taken, for use after the wait; {0, wait, at} if not, with the
-- wait that it would take; {-1, kind, period} if the name is in use for another limit. "at" is by the
-- clock of the server.
--
-- A mark says that "after - before" permits were taken no later than at its time. Marks only rise, and
-- so whoever asks first is served first. Permits count until mark + period.
--
-- "seen" is the time of the last request that took some. A server clock that is behind it was set
-- back: "shift" then makes up for the step, so that no mark is left in the far future.

local n, k, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local grain, longest = tonumber(ARGV[4]), tonumber(ARGV[5])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local state = redis.call('LINDEX', KEYS[1], -1)
local shift, known_shift, count = 0, 0, 0
local time = now
if state then
  local kind, its_period, its_seen, its_shift = string.match(state, '^(%d) (%d+) (%d+) (%d+)')
  if kind ~= '1' or its_period ~= ARGV[3] then
    return {-1, tonumber(kind), tonumber(its_period)}
  end
  known_shift = tonumber(its_shift)
  shift = math.max(known_shift, its_seen - now)
  time = now + shift
  count = redis.call('LLEN', KEYS[1]) - 1
end

local function mark_at(index)
  local mark, before, after = string.match(redis.call('LINDEX', KEYS[1], index), '(%d+) (%d+) (%d+)')
  return tonumber(mark), tonumber(before), tonumber(after)
end

while count > 0 and mark_at(0) + period <= time do
  redis.call('LPOP', KEYS[1])
  count = count - 1
end

local at = time
local last_mark, last_before, last_after = 0, 0, 0
if count > 0 then
  last_mark, last_before, last_after = mark_at(-2)
  at = math.max(at, last_mark - grain + 1)
  -- Of the marks whose permits are in the way, the last one must have left the window.
  local enough = last_after - n + k
  local low, high = -1, count - 1
  while low < high do
    local middle = math.floor((low + high + 1) / 2)
    local _, before = mark_at(middle)
    if before < enough then
      low = middle
    else
      high = middle - 1
    end
  end
  if low >= 0 then
    at = math.max(at, mark_at(low) + period)
  end
end

local wait = at - time
if wait > longest then
  if shift > known_shift then
    redis.call('LSET', KEYS[1], -1, string.format('1 %d %d %d', period, time, shift))
  end
  return {0, wait, at - shift}
end
local mark = (math.floor(at / grain) + 1) * grain - 1
local new_state = string.format('1 %d %d %d', period, time, shift)
if count > 0 and mark == last_mark then
  redis.call('LSET', KEYS[1], -2, string.format('%d %d %d', mark, last_before, last_after + k))
  redis.call('LSET', KEYS[1], -1, new_state)
else
  if state then
    redis.call('RPOP', KEYS[1])
  end
  redis.call('RPUSH', KEYS[1], string.format('%d %d %d', mark, last_after, last_after + k), new_state)
end
-- A second more: the clock of expiry and that of TIME need not be the same to the microsecond.
redis.call('PEXPIRE', KEYS[1], string.format('%d', math.ceil((mark + period - time) / 1000) + 1000))
return {1, wait, at - shift}
