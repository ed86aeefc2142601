-- redlock_claim.lua: the first round of a claim at one node of a Redlock.
--
-- KEYS     as in redlock_name.lua
-- ARGV[1]  run      which run of this server the client is connected to
-- ARGV[2]  bucket   of the name
-- ARGV[3]  owner    16 bytes, unique to this acquisition
-- ARGV[4]  kind     x, s or p
-- ARGV[5]  slots    numbers of the permits, with commas between; empty for others
-- ARGV[6]  total    of permits; 0 for others
-- ARGV[7]  lease    in milliseconds
-- ARGV[8]  delay    in milliseconds: how much longer than the lease the name stays closed
-- ARGV[9]  seen     largest number of the bucket that the client knows
-- ARGV[10] client   for people, opaque here
-- ARGV[11] channel  to be told when the name gets free; empty if the claim does not wait
--
-- Returns one of
--   {'g', number, confirmed}      granted; 1 if an earlier claim of this owner was confirmed
--   {'r', client, number, remaining_ms, state, slot...}  refused: who is in the way; all slots in use
--   {'b', ms}                     this node does not vote yet; for how long, -1 if nobody knows
--   {'c', total}                  the name is in use as something else
--   {'o', number}                 the number does not fit into a token
--
-- A repeat by the same owner for the same slots keeps its number and starts the lease anew. For other
-- slots it is a new claim: an owner that asks for others has given up the first ones.

--@include redlock_name.lua

local owner, kind, slots, total = ARGV[3], ARGV[4], numbers(ARGV[5]), tonumber(ARGV[6])
local delay, term = tonumber(ARGV[8]), tonumber(ARGV[7]) + tonumber(ARGV[8])
local state = redis.call('HMGET', KEYS[1], 'run', ARGV[2], 'longest', 'until')
if state[1] ~= ARGV[1] then
  return {'b', state[4] and math.max(0, state[4] - now) or -1}
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local record = load(KEYS[3])
if #record[3] > 0 and record[1] ~= total then
  return {'c', record[1]}
end

local held, place = own(record, owner)
if held and table.concat(held[3], ',') ~= ARGV[5] then
  table.remove(record[3], place)
  held, dirty = nil, true
end

local other = conflict(record, owner, kind, slots)
if other then
  if dirty then
    save(KEYS[3], record)
  end
  if ARGV[11] ~= '' then
    redis.call('SADD', KEYS[4], ARGV[11])
    redis.call('PEXPIRE', KEYS[4], 5000)
  end
  local answer = {'r', other[10], other[4], other[9] - now, other[5]}
  for _, grant in ipairs(record[3]) do
    for _, slot in ipairs(grant[3]) do
      answer[#answer + 1] = slot
    end
  end
  return answer
end

if not held then
  local number = next_number(state[2], ARGV[9])
  if number > LARGEST_NUMBER then
    return {'o', number}
  end
  redis.call('HSET', KEYS[1], ARGV[2], number)
  held = {owner, kind, slots, number, 't', now, term, delay, 0, ARGV[10]}
  record[3][#record[3] + 1] = held
end
held[9] = math.max(held[9], now + term)
held[7] = math.max(term, held[9] - now)
record[1] = total
remember_term(state[3], held[7])
save(KEYS[3], record)
return {'g', held[4], held[5] == 'c' and 1 or 0}
