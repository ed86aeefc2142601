-- redlock_renew.lua: starts leases again at one node of a Redlock, many at once.
--
-- KEYS[1]  the state, KEYS[2] the index, as in redlock_name.lua; then the name of each hold
-- ARGV[1]  run
-- ARGV[2]  owner and term in milliseconds of the first hold, then of the second, and so on
--
-- Returns {votes, fate...}: whether this node votes (1) or has lost its memory (0), then for each hold 1
-- if it runs again, 0 if this node does not have it.

--@include redlock_name.lua

local state = redis.call('HMGET', KEYS[1], 'run', 'longest')
local answers = {state[1] == ARGV[1] and 1 or 0}
local longest = 0
for key = 3, #KEYS do
  local owner, term = ARGV[key * 2 - 4], tonumber(ARGV[key * 2 - 3])
  local record = load(KEYS[key])
  local held = own(record, owner)
  if held then
    held[9] = math.max(held[9], now + term)
    held[7] = math.max(term, held[9] - now)
    longest = math.max(longest, held[7])
    save(KEYS[key], record)
  end
  answers[#answers + 1] = held and 1 or 0
end
if longest > 0 then
  remember_term(state[2], longest)
end
return answers
