-- redlock_end.lua: ends a grant at one node of a Redlock, and tells those who wait.
--
-- KEYS     as in redlock_name.lua
-- ARGV[1]  owner
-- ARGV[2]  how   r release, w withdrawal of a claim, f by force
-- ARGV[3]  keep  for r: how long the name stays closed from now on, in milliseconds; 0 opens it
--
-- Returns 1, or 0 if there was nothing of this owner. Only the owner's own grant is touched, so repeats
-- are harmless. By force, the name stays closed for the rest of the lock-delay, at most. A grant of the
-- first round that is withdrawn is no news: whoever waits would only wake up to the next attempt.

--@include redlock_name.lua

local record = load(KEYS[3])
local held, place = own(record, ARGV[1])
if not held then
  if dirty then
    save(KEYS[3], record)
  end
  return 0
end
local keep = 0
if ARGV[2] == 'r' then
  keep = tonumber(ARGV[3])
elseif ARGV[2] == 'f' then
  keep = math.min(held[9] - now, held[8])
end
local confirmed = held[5] == 'c'
if keep > 0 then
  held[5], held[7], held[9] = 'k', keep, now + keep
else
  table.remove(record[3], place)
end
save(KEYS[3], record)
if confirmed and keep <= 0 then
  for _, channel in ipairs(redis.call('SMEMBERS', KEYS[4])) do
    -- A message is a hint: that it can't be sent must not undo what was done.
    redis.pcall('PUBLISH', channel, string.sub(KEYS[3], 7))
  end
  redis.call('DEL', KEYS[4])
end
return 1
