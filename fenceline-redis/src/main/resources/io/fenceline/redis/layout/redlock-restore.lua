-- redlock-restore.lua: gives a hold that runs at other nodes to a node that lacks it: one that was
-- emptied, or that another claim was at when the hold was granted.
--
-- KEYS     as in redlock-name.lua
-- ARGV     run, bucket, owner, kind, slots, total, token, lease, delay, client: as in redlock-claim.lua and
--          redlock-confirm.lua
--
-- Returns 1, or 0 if something is in the way, or the hold has been ended since, by its owner or by force, or
-- its owner does not know which permits it has; -1 if the node has lost its memory, and nobody has told it
-- yet what others remember.
--
-- Works at a node that does not vote: it grants nothing by this, it learns what it had granted. But first
-- it has to know what was ended by force (redlock-admit.lua): such a hold must not come back, though its
-- owner believes in it.

--@include redlock-name.lua

local owner, kind, slots, total = ARGV[3], ARGV[4], numbers(ARGV[5]), tonumber(ARGV[6])
local token, delay, term = tonumber(ARGV[7]), tonumber(ARGV[9]), tonumber(ARGV[8]) + tonumber(ARGV[9])
local state = redis.call('HMGET', KEYS[1], ARGV[2], 'run', 'waits', 'until', 'f' .. owner)
local record = load(KEYS[3])
if forgotten or (state[2] ~= ARGV[1] and not (state[3] == ARGV[1] and state[4])) then
  return answer(KEYS[3], record, -1)
end
local forced = tonumber(string.match(state[5] or '', '^%d+') or 0)
if token <= forced or is_over(record, owner, HELD) or conflict(record, owner, kind, slots)
    or is_vague(kind, slots) or (#record[3] > 0 and record[1] ~= total) then
  return answer(KEYS[3], record, 0)
end
local held = own(record, owner)
if not held then
  held = {owner, kind, slots, token, 'c', now, term, delay, 0, ARGV[10], HELD}
  record[3][#record[3] + 1] = held
end
held[3], held[4], held[5], held[11] = slots, token, 'c', HELD
held[9] = math.max(held[9], now + term)
held[7] = math.max(term, held[9] - now)
record[1], record[2] = total, math.max(record[2], token)
count(ARGV[2], state[1], token)
remember_term(held[7], held[9])
save(KEYS[3], record)
return 1
