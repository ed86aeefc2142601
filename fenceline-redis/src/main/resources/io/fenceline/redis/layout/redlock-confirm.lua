-- redlock-confirm.lua: the second round of a claim at one node of a Redlock: writes the token back.
--
-- KEYS     as in redlock-name.lua
-- ARGV[1]  run
-- ARGV[2]  bucket
-- ARGV[3]  owner
-- ARGV[4]  given    the number that this node granted in the first round
-- ARGV[5]  token    the largest number of a majority
--
-- Returns {1, token} if this node still has the very grant that it gave, else {0, top}; {-1, 0} if it
-- does not vote.
--
-- The owner alone is no proof: its grant may have ended, another one may have come and gone, and a claim
-- of the owner that was late may have been granted since. So the number is compared, too. Holders that
-- share a name may have found the same largest number at different nodes: the second one is refused,
-- learns the largest number from the answer, and claims anew.

--@include redlock-name.lua

local given, token = tonumber(ARGV[4]), tonumber(ARGV[5])
local state = redis.call('HMGET', KEYS[1], 'run', ARGV[2])
if state[1] ~= ARGV[1] then
  return {-1, 0}
end
local record = load(KEYS[3])
if forgotten then
  return {-1, 0}
end
local held = own(record, ARGV[3])
if not held or held[4] ~= given then
  return answer(KEYS[3], record, {0, record[2]})
end
local repeated = held[5] == 'c' and held[4] == token
if not repeated and token <= record[2] then
  return answer(KEYS[3], record, {0, record[2]})
end
held[4], held[5], held[9] = token, 'c', math.max(held[9], now + held[7])
record[2] = math.max(record[2], token)
count(ARGV[2], state[2], token)
remember_term(held[7], held[9])
save(KEYS[3], record)
return {1, token}
