-- redlock-renew.lua: starts leases again at one node of a Redlock, many at once.
--
-- KEYS[1]  the state, KEYS[2] the index, as in redlock-name.lua; then the name of each hold
-- ARGV[1]  run
-- ARGV[2]  owner, token, and term in milliseconds of the first hold, then of the second, and so on
--
-- Returns {votes, fate...}: whether this node votes (1) or has lost its memory (0), then for each hold 1
-- if it runs again, 0 if this node does not have it. What the node granted the owner in another attempt,
-- perhaps for other slots, is not the hold.
--
-- A node that was restarted may remember an older state than it had, in which a hold runs that was ended
-- by force since. So as long as it does not vote, it has a hold only once it has been told what others
-- remember (redlock-admit.lua), and if that was not that it was ended.

--@include redlock-name.lua

local state = redis.call('HMGET', KEYS[1], 'run', 'waits', 'until')
local votes = state[1] == ARGV[1]
local told = votes or (state[2] == ARGV[1] and state[3])
local answers = {votes and 1 or 0}
for key = 3, #KEYS do
  local first = key * 3 - 7
  local owner, token, term = ARGV[first], tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
  local record = load(KEYS[key])
  local held = own(record, owner)
  held = told and held and held[5] == 'c' and held[4] == token and held
  if held and not votes and is_forced(owner, token) then
    held = nil
  end
  if held then
    held[9] = math.max(held[9], now + term)
    held[7] = math.max(term, held[9] - now)
    remember_term(held[7], held[9])
    dirty = true
  end
  answers[#answers + 1] = answer(KEYS[key], record, held and 1 or 0)
end
if forgotten then
  answers[1] = 0
end
return answers
