-- smooth.lua: takes permits that come one by one, at even intervals, with a burst (GCRA).
--
-- KEYS[1]  the limit    flr1:NAME  list of one element, "2 period seen shift due"; expires when the
--          burst is whole again
-- ARGV[1]  interval     between two permits; all times are in microseconds
-- ARGV[2]  k            how many are asked for, at most burst
-- ARGV[3]  period       of the limit, to compare
-- ARGV[4]  burst        how many may be taken at once after a rest
-- ARGV[5]  longest      as in strict.lua
--
-- Returns as strict.lua; "seen" and "shift" are as there. "due" is when the next permit would be due if
-- they were taken evenly.

local interval, k = tonumber(ARGV[1]), tonumber(ARGV[2])
local burst, longest = tonumber(ARGV[4]), tonumber(ARGV[5])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local state = redis.call('LINDEX', KEYS[1], -1)
local shift, known_shift, due = 0, 0, 0
local time = now
if state then
  local kind, its_period, its_seen, its_shift, its_due =
    string.match(state, '^(%d) (%d+) (%d+) (%d+) ?(%d*)')
  if kind ~= '2' or its_period ~= ARGV[3] then
    return {-1, tonumber(kind), tonumber(its_period)}
  end
  known_shift = tonumber(its_shift)
  shift = math.max(known_shift, its_seen - now)
  time = now + shift
  due = tonumber(its_due)
end

local at = math.max(time, due + (k - burst) * interval)
local wait = at - time
if wait > longest then
  if shift > known_shift then
    redis.call('LSET', KEYS[1], -1, string.format('2 %s %d %d %d', ARGV[3], time, shift, due))
  end
  return {0, wait, at - shift}
end
due = math.max(at, due) + k * interval
local new_state = string.format('2 %s %d %d %d', ARGV[3], time, shift, due)
if state then
  redis.call('LSET', KEYS[1], -1, new_state)
else
  redis.call('RPUSH', KEYS[1], new_state)
end
redis.call('PEXPIRE', KEYS[1], string.format('%d', math.ceil((due - time) / 1000) + 1000))
return {1, wait, at - shift}
