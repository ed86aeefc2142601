-- redlock_admit.lua: lets a node of a Redlock vote again that was restarted or emptied, or for the first
-- time: after a while, and with the counters of those that remember.
--
-- KEYS[1]  the state, as in redlock_name.lua. While the node does not vote it has 'waits', the run that
--          waits; 'until', until when; and 'wait', for how long at most.
-- ARGV[1]  run
-- ARGV[2]  wait  for how long the longest grant that others know still runs, in milliseconds
-- ARGV[3]  bucket, number, bucket, number, and so on
--
-- Returns 0 if it votes now, else for how many milliseconds it does not.
--
-- The wait is set once for each run: grants that others know of later were made without this node, or
-- were restored to it.

--@include number.lua

local run, wait = ARGV[1], tonumber(ARGV[2])
local state = redis.call('HMGET', KEYS[1], 'run', 'waits', 'until', 'wait')
if state[1] == run then
  return 0
end
local ends = tonumber(state[3]) or 0
if state[2] ~= run then
  ends = now + wait
  redis.call('HSET', KEYS[1], 'waits', run, 'until', ends, 'wait', wait)
elseif ends - now > tonumber(state[4]) then
  ends = now + tonumber(state[4]) -- The clock was set back.
  redis.call('HSET', KEYS[1], 'until', ends)
end
if ends > now then
  return ends - now
end
for i = 3, #ARGV, 2 do
  local last = tonumber(redis.call('HGET', KEYS[1], ARGV[i])) or 0
  if tonumber(ARGV[i + 1]) > last then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
redis.call('HDEL', KEYS[1], 'waits', 'until', 'wait')
redis.call('HSET', KEYS[1], 'run', run)
return 0
