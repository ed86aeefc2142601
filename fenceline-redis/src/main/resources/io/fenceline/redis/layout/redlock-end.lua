-- redlock-end.lua: ends a grant at one node of a Redlock, and tells those who wait.
--
-- KEYS     as in redlock-name.lua
-- ARGV[1]  owner
-- ARGV[2]  attempt  up to which it ends what the owner has; HELD for all
-- ARGV[3]  how      r release, c as well where the hold is not known, w withdrawal of a claim, f by force,
--                   m only remembers that it will be ended by force
-- ARGV[4]  term     for r and c: how long the name stays closed from now on, in milliseconds; 0 opens it.
--                   For f and m: for how long the hold may be believed in
-- ARGV[5]  away     for how many milliseconds requests of the owner that are still on their way are turned
--                   away; 0 if there are none
-- ARGV[6]  number   of the hold; 0 for w
-- ARGV[7]  kind, slots, total, delay, client: as in redlock-claim.lua; for c only
--
-- Returns 1, or 0 if there was nothing of this owner, or only of a later attempt; for f and m 2 if it was
-- there, 1 if not. Only the owner's own
-- grant is touched, so repeats are harmless; and not that of a later attempt, so a late undo is. A grant of
-- the first round that is withdrawn is no news: whoever waits would only wake up to the next attempt.
--
-- A name that is to stay closed may be closed also where the hold is not known, unless something is in the
-- way, or it is not known which permits: else a node that was restarted would open it.
--
-- By force, the name stays closed for the rest of the lock-delay, at most, also if it was released already.
-- Every node remembers it, whether it had the hold or not: no renewal may give it back. First a majority is
-- told (m), then it is ended: a node that ended it and lost its memory hears of it from the others.

--@include redlock-name.lua

local owner, attempt, how = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local term, away, number = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local record = load(KEYS[3])
local held, place = own(record, owner)
local closed, closed_place = kept_closed(record, owner)
if (how == 'f' or how == 'm') and not held then
  held, place = closed, closed_place
end
if held and held[11] > attempt then
  held = nil
end
local later = own(record, owner) and not held
if (how == 'f' or how == 'm') and not later then
  remember_force(owner, number, held and math.max(term, held[7]) or term)
end
if how == 'm' then
  return answer(KEYS[3], record, held and 2 or later and 0 or 1)
end
if held and how == 'f' then
  turn_away(record, owner, HELD, math.max(term, held[7]))
elseif away > 0 then
  turn_away(record, owner, attempt, away)
  dirty = true
end

if not held and how == 'c' then
  if closed then
    return answer(KEYS[3], record, 1)
  end
  local kind, slots, total = ARGV[7], numbers(ARGV[8]), tonumber(ARGV[9])
  if not is_forced(owner, number) and not conflict(record, owner, kind, slots)
      and not is_vague(kind, slots) and (#record[3] == 0 or record[1] == total) then
    held = {owner, kind, slots, number, 'c', now, term, tonumber(ARGV[10]), 0, ARGV[11], HELD}
    place, record[1] = #record[3] + 1, total
    record[3][place] = held
  end
end
if not held then
  return answer(KEYS[3], record, how == 'f' and not later and 1 or 0)
end

local keep = 0
if how == 'r' or how == 'c' then
  -- A node that was too late for the majority has only the number that it proposed itself.
  keep, held[4] = term, number
elseif how == 'f' then
  keep = math.min(held[9] - now, held[8])
end
local confirmed = held[5] == 'c' or (how == 'f' and held[5] == 'k')
if keep > 0 then
  held[5], held[7], held[9] = 'k', keep, now + keep
  remember_term(keep, held[9])
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
return how == 'f' and 2 or 1
