-- redlock-claim.lua: the first round of a claim at one node of a Redlock.
--
-- KEYS     as in redlock-name.lua
-- ARGV[1]  run      which run of this server the client is connected to
-- ARGV[2]  bucket   of the name
-- ARGV[3]  owner    16 bytes, unique to this acquisition
-- ARGV[4]  attempt  of the owner; larger than that of its earlier ones
-- ARGV[5]  kind     x, s or p
-- ARGV[6]  slots    numbers of the permits, with commas between; empty for others
-- ARGV[7]  total    of permits; 0 for others
-- ARGV[8]  lease    in milliseconds
-- ARGV[9]  delay    in milliseconds: how much longer than the lease the name stays closed
-- ARGV[10] seen     largest number of the bucket that the client knows
-- ARGV[11] client   for people, opaque here
-- ARGV[12] channel  to be told when the name gets free; empty if the claim does not wait
--
-- Returns one of
--   {'g', number, confirmed}      granted; 1 if an earlier claim of this owner was confirmed
--   {'r', client, number, remaining_ms, state, slot...}  refused: who is in the way; all slots in use
--   {'b', ms}                     this node does not vote yet; for how long, -1 if nobody knows
--   {'c', total}                  the name is in use as something else
--   {'o', number}                 the number does not fit into a token
--   {'l'}                         late: the owner has made another attempt since, or has ended it all
--
-- A later attempt replaces what an earlier one was granted, with a number of its own: whoever asks again
-- has given up the first. Only what was confirmed, for the same slots, keeps its number, and the lease
-- starts anew: its owner may hold it, and ask because it has not heard so. An attempt that is late
-- changes nothing.

--@include redlock-name.lua

local owner, attempt = ARGV[3], tonumber(ARGV[4])
local kind, slots, total = ARGV[5], numbers(ARGV[6]), tonumber(ARGV[7])
local delay, term = tonumber(ARGV[9]), tonumber(ARGV[8]) + tonumber(ARGV[9])
local state = redis.call('HMGET', KEYS[1], 'run', ARGV[2], 'until')
if state[1] ~= ARGV[1] then
  return {'b', state[3] and math.max(0, state[3] - now) or -1}
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local record = load(KEYS[3])
if forgotten then
  return {'b', -1}
end
if #record[3] > 0 and record[1] ~= total then
  return answer(KEYS[3], record, {'c', record[1]})
end

if is_over(record, owner, attempt) then
  return answer(KEYS[3], record, {'l'})
end
local held, place = own(record, owner)
if held then
  local same = table.concat(held[3], ',') == ARGV[6]
  if attempt < held[11] and not (same and held[11] == HELD) then
    return answer(KEYS[3], record, {'l'})
  end
  if not same or (held[5] ~= 'c' and attempt > held[11]) then
    table.remove(record[3], place)
    held, dirty = nil, true
  else
    held[11] = math.max(held[11], attempt)
  end
end

local other = conflict(record, owner, kind, slots)
if other then
  if ARGV[12] ~= '' then
    redis.call('SADD', KEYS[4], ARGV[12])
    redis.call('PEXPIRE', KEYS[4], 5000)
  end
  local refusal = {'r', other[10], other[4], other[9] - now, other[5]}
  for _, grant in ipairs(record[3]) do
    for _, slot in ipairs(grant[3]) do
      refusal[#refusal + 1] = slot
    end
  end
  return answer(KEYS[3], record, refusal)
end

if not held then
  local number = next_number(state[2], ARGV[10])
  if number > LARGEST_NUMBER then
    return answer(KEYS[3], record, {'o', number})
  end
  redis.call('HSET', KEYS[1], ARGV[2], number)
  held = {owner, kind, slots, number, 't', now, term, delay, 0, ARGV[11], attempt}
  record[3][#record[3] + 1] = held
end
held[9] = math.max(held[9], now + term)
held[7] = math.max(term, held[9] - now)
record[1] = total
remember_term(held[7], held[9])
save(KEYS[3], record)
return {'g', held[4], held[5] == 'c' and 1 or 0}
