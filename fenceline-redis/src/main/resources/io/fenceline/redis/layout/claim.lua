-- claim.lua: grants a name, or queues for it, or says who is in the way.
--
-- KEYS     as in table.lua
-- ARGV[1]  owner    16 bytes, unique to this acquisition
-- ARGV[2]  kind     x, s or p
-- ARGV[3]  count    permits; 1 for others
-- ARGV[4]  total    of permits; 0 for others
-- ARGV[5]  lease    in milliseconds
-- ARGV[6]  delay    in milliseconds: how much longer than the lease the name stays closed
-- ARGV[7]  channel  where to tell a grant that came later, 'p' or 's' (sharded) and its name; empty
--                   if the claim does not wait
-- ARGV[8]  asks     1 if a grant has to come with an answer, because replicas have to acknowledge it or
--                   nobody would renew it; 0 if it may come with a message
-- ARGV[9]  seen     largest number of the bucket that the client knows
-- ARGV[10] client   for people, opaque here
--
-- Returns the number if granted, or one of
--   {'w', ask_again_ms, last_number, client, number, remaining_ms}  waits; the last number of the
--                                     bucket; then client and so on of a holder, if one is known
--   {'r', 0, 0, client, number, remaining_ms}  refused
--   {'c', total}                               the name is in use as something else
--   {'o', number}                              the number does not fit into a token
--
-- A repeat by the same owner returns its number again and starts the lease anew, or keeps its place:
-- a client whose answer was lost may ask again. The first part is the way of an uncontended claim, and
-- does not read further.

--@include number.lua
--@include prolong.lua
--@include solo.lua

local owner, kind, count, total_wanted = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local lease, delay = tonumber(ARGV[5]), tonumber(ARGV[6])
local term, seen = lease + delay, tonumber(ARGV[9])
local found = redis.call('MGET', KEYS[1], KEYS[5])
local head = found[1]
local solo = head and string.sub(head, 1, 1) ~= 't' and solo_record(KEYS[1], head)

local function hold_alone(number, since, longest, ends)
  local record = {kind, count, total_wanted, number, since, longest, delay, ARGV[10], ends}
  write_solo(KEYS[1], 'h', owner, record)
  return number
end

if not head or (solo and solo[9] <= now) then
  local number = next_number(found[2], ARGV[9])
  if number > LARGEST_NUMBER then
    return {'o', number}
  end
  redis.call('SET', KEYS[5], number)
  return hold_alone(number, now, term, now + term)
end

if solo then
  if string.sub(head, 1, 17) == 'h' .. owner then
    return hold_alone(
      solo[4], solo[5], math.max(solo[6], term), prolonged(solo[9], solo[6], term))
  end
  if solo[9] - now > solo[6] then
    solo[9] = now + solo[6] -- The clock was set back.
    write_solo(KEYS[1], string.sub(head, 1, 1), string.sub(head, 2, 17), solo)
  end
  if solo[3] ~= total_wanted then
    return {'c', solo[3]}
  end
  if ARGV[7] == '' and (kind == 'x' or solo[1] == 'x' or (kind == 'p' and solo[2] + count > solo[3])) then
    return {'r', 0, 0, solo[8], solo[4], solo[9] - now}
  end
end

--@include table.lua

local function obstacle(answer, ask_again)
  local record = redis.call('HGET', KEYS[2], last_holder)
  if not record or string.sub(record, 1, 1) == 'w' then
    return {answer, ask_again, last_number}
  end
  record = cmsgpack.unpack(string.sub(record, 2))
  local ends = redis.call('ZSCORE', KEYS[3], last_holder) or now
  return {answer, ask_again, last_number, record[8], record[4], ends - now}
end

-- Waits, with a deadline for being heard of again, sooner for those whose turn is near.
local function wait(record)
  local place = redis.call('ZRANK', KEYS[4], owner)
  if not place then
    places = places + 1
    redis.call('ZADD', KEYS[4], places, owner)
    place = redis.call('ZCARD', KEYS[4]) - 1
    if place == 0 then
      redis.call('PEXPIREAT', KEYS[4], math.max(lives_until, now + SPARE))
    end
  end
  local interval = place < NEAR and NEAR_INTERVAL or FAR_INTERVAL
  if record[6] ~= interval then
    record[6] = interval
    redis.call('HSET', KEYS[2], owner, 'w' .. cmsgpack.pack(record))
  end
  redis.call('ZADD', KEYS[3], now + PATIENCE * interval, owner)
  local answer = obstacle('w', interval)
  if place == 0 and answer[6] then
    answer[2] = math.max(1, math.min(interval, answer[6] + 1)) -- There, when the holder's time is over.
  end
  close()
  return answer
end

local function take()
  local number, overflow = grant(owner, kind, count, term, delay, ARGV[10], ARGV[9])
  if number then
    hand_over(owner) -- Others may fit beside it.
  end
  close()
  return number or {'o', overflow}
end

last_number = tonumber(found[2]) or 0
if seen > last_number then
  redis.call('SET', KEYS[5], seen) -- The counter was lost; before anybody is granted from it.
  last_number = seen
end
open(head)
settle(owner)
local own = redis.call('HGET', KEYS[2], owner)
local letter = own and string.sub(own, 1, 1)
if letter == 'h' then
  local record = cmsgpack.unpack(string.sub(own, 2))
  local ends = prolonged(tonumber(redis.call('ZSCORE', KEYS[3], owner)), record[6], term)
  hold('h', owner, record, math.max(record[6], term), ends)
  close()
  return record[4]
end

if letter == 'k' then
  -- It was given back, and only keeps the name closed: this request is a late one.
  local answer = obstacle('r', 0)
  close()
  return answer
end

local first = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
if letter == 'w' then
  if first == owner then
    if redis.call('ZCARD', KEYS[3]) <= redis.call('ZCARD', KEYS[4]) then
      taken = 0 -- Nobody holds it, whatever the sum says.
    end
    if fits(kind, count) then
      redis.call('ZREM', KEYS[4], owner)
      return take()
    end
  end
  return wait(cmsgpack.unpack(string.sub(own, 2)))
end

if redis.call('ZCARD', KEYS[3]) == 0 then
  total, taken, lives_until = total_wanted, 0, 0
elseif total ~= total_wanted then
  close()
  return {'c', total}
end
if not first and fits(kind, count) then
  return take()
end
if ARGV[7] == '' then
  local answer = obstacle('r', 0)
  close()
  return answer
end
return wait({kind, count, total, lease, now, 0, delay, ARGV[10], ARGV[7], tonumber(ARGV[8])})
