-- redlock_restore.lua: gives a hold that runs at other nodes to a node that lacks it: one that was
-- emptied, or that another claim was at when the hold was granted.
--
-- KEYS     as in redlock_name.lua
-- ARGV     bucket, owner, kind, slots, total, token, lease, delay, client: as in redlock_claim.lua and
--          redlock_confirm.lua
--
-- Returns 1, or 0 if something is in the way. Works at a node that does not vote: it grants nothing by
-- this, it learns what it had granted.

--@include redlock_name.lua

local owner, kind, slots, total = ARGV[2], ARGV[3], numbers(ARGV[4]), tonumber(ARGV[5])
local token, delay, term = tonumber(ARGV[6]), tonumber(ARGV[8]), tonumber(ARGV[7]) + tonumber(ARGV[8])
local state = redis.call('HMGET', KEYS[1], ARGV[1], 'longest')
local record = load(KEYS[3])
if conflict(record, owner, kind, slots) or (#record[3] > 0 and record[1] ~= total) then
  return 0
end
local held = own(record, owner)
if not held then
  held = {owner, kind, slots, token, 'c', now, term, delay, 0, ARGV[9]}
  record[3][#record[3] + 1] = held
end
held[4], held[5], held[9] = token, 'c', math.max(held[9], now + term)
held[7] = math.max(term, held[9] - now)
record[1], record[2] = total, math.max(record[2], token)
count(ARGV[1], state[1], token)
remember_term(state[2], held[7])
save(KEYS[3], record)
return 1
