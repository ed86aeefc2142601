-- table.lua: a name with several holders or a queue. Included by the scripts that work on one name,
-- after number.lua and solo.lua.
--
-- KEYS[1]  the head       fl1:{bucket}:name    string; its first letter says which form the name has:
--            'h' or 'k', solo: one holder and no queue. Owner (16 bytes), the number in digits, a
--                space, and the facts. Expires with the grant. Nothing else exists of the name.
--            't', table: the summary below; the rest is in three more keys. Lives until nothing is left.
-- KEYS[2]  the records    fl1:{bucket}r:name   hash: owner -> 'h', 'k' or 'w' and a record
-- KEYS[3]  the deadlines  fl1:{bucket}d:name   sorted set: owner -> when it is dropped: the end of a
--            holder's grant, or when we lose patience with a waiter. All owners are in it.
-- KEYS[4]  the queue      fl1:{bucket}q:name   sorted set: waiting owner -> place
-- KEYS[5]  the counter    fl1:{bucket}#        last number of the bucket; never expires
--
-- 'h' holds, 'w' waits, 'k' has ended and keeps the name closed for a while: it is nobody's.
-- Packed are: the facts of a solo head, {kind, count, total, term, delay, client, since}, of which
-- 'since' may be missing (solo.lua); a holder's record, {kind, count, total, number, since, term, delay,
-- client}; a waiter's, {kind, count, total, lease, since, interval, delay, client, channel, asks}; the
-- summary, {at, total, taken, places, last holder, until}. Times in milliseconds; kind is 'x'
-- exclusive, 's' shared, 'p' permits; total is 0 unless it is permits.
--
-- Why it can't go wrong:
-- * An end that the clock was set back from: ends are written with the clock in 'at', so only when the
--   clock is behind 'at' can one lie too far ahead; then all are looked at, and pulled in.
-- * A queue that stands still: whoever makes room hands over in the same step; the head of the queue
--   asks once a second, and counts anew if the sum of holders can't be right (eviction).
-- * A waiter that is dead and stays: only its own asking gives it more time.
-- * Keys that stay: each has a time to live beyond the last deadline, prolonged in steps. A key that was
--   emptied and is filled again in one script has lost its own, so 'lives_until' is forgotten with it.
-- * Keys that go too soon: they are told when to end, not after how long. Since 7.2 Redis counts a length
--   from the start of the script, which may be long before 'now' if the server stood still.
-- * A number below one that the waiter's client has seen: claim.lua raises the counter to what the
--   client has seen before it does anything else, so that whoever hands over to it counts on from there.
local HAND_OVER = 2000        -- how long a grant to a waiter runs until its first renewal
local NEAR, NEAR_INTERVAL, FAR_INTERVAL = 10, 1000, 3000 -- how often a waiter asks, by its place
local PATIENCE = 3            -- intervals that a waiter may be silent
local SPARE = 10000           -- how much longer keys live than needed, so that they are rarely touched
local EVERYTHING = 1099511627776 -- what an exclusive holder takes

local at, total, taken, places, last_holder, lives_until
local last_number -- Of the bucket, where it is known.
local changed = false

local function weight(kind, count)
  return kind == 'x' and EVERYTHING or count
end

local function fits(kind, count)
  if kind == 'x' then
    return taken == 0
  elseif kind == 's' then
    return taken < EVERYTHING
  end
  return taken + count <= total
end

local function open(head)
  if string.sub(head, 1, 1) == 't' then
    at, total, taken, places, last_holder, lives_until = unpack(cmsgpack.unpack(string.sub(head, 2)))
    return
  end
  local letter, owner = string.sub(head, 1, 1), string.sub(head, 2, 17)
  local record = solo_record(KEYS[1], head)
  local ends = table.remove(record)
  redis.call('DEL', KEYS[2], KEYS[3], KEYS[4]) -- Left over if only the head was evicted.
  redis.call('HSET', KEYS[2], owner, letter .. cmsgpack.pack(record))
  redis.call('ZADD', KEYS[3], math.min(ends, now + record[6]), owner)
  at, total, taken, places, last_holder, lives_until =
    now, record[3], weight(record[1], record[2]), 0, owner, 0
end

local function close()
  local latest = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
  if not latest[1] then
    redis.call('DEL', KEYS[1], KEYS[2], KEYS[4])
    return
  end
  local longer = latest[2] + 1000 > lives_until
  if longer then
    lives_until = math.max(latest[2], now) + SPARE
  end
  local summary = cmsgpack.pack({at, total, taken, places, last_holder, lives_until})
  redis.call('SET', KEYS[1], 't' .. summary, 'KEEPTTL')
  if longer then
    for key = 1, 4 do
      redis.call('PEXPIREAT', KEYS[key], lives_until)
    end
  end
end

-- What is taken, once all that are left have records again.
local function count_anew()
  local all = redis.call('HGETALL', KEYS[2])
  if #all / 2 ~= redis.call('ZCARD', KEYS[3]) then
    return
  end
  taken = 0
  for i = 2, #all, 2 do
    if string.sub(all[i], 1, 1) ~= 'w' then
      local record = cmsgpack.unpack(string.sub(all[i], 2))
      taken = taken + weight(record[1], record[2])
    end
  end
end

local function remove(owner)
  local record = redis.call('HGET', KEYS[2], owner)
  redis.call('ZREM', KEYS[3], owner)
  redis.call('HDEL', KEYS[2], owner)
  changed = true
  if record and string.sub(record, 1, 1) ~= 'w' then
    record = cmsgpack.unpack(string.sub(record, 2))
    taken = math.max(0, taken - weight(record[1], record[2]))
  elseif redis.call('ZREM', KEYS[4], owner) == 0 then
    count_anew() -- A holder whose record was evicted: nobody knows how much it had.
  end
end

local function hold(letter, owner, record, term, ends)
  record[6] = term
  redis.call('HSET', KEYS[2], owner, letter .. cmsgpack.pack(record))
  redis.call('ZADD', KEYS[3], ends or now + term, owner)
end

-- Grants; nil if the numbers are used up.
local function grant(owner, kind, count, term, delay, client, seen)
  local number = next_number(redis.call('GET', KEYS[5]), seen)
  if number > LARGEST_NUMBER then
    return nil, number
  end
  redis.call('SET', KEYS[5], number)
  hold('h', owner, {kind, count, total, number, now, term, delay, client}, term)
  taken = taken + weight(kind, count)
  last_holder, last_number = owner, number
  return number
end

local function tell(channel, owner, number, length)
  local kind = string.sub(channel, 1, 1) == 's' and 'SPUBLISH' or 'PUBLISH'
  -- The owner is a secret, and whoever may listen need not be allowed to read keys: its hash is told.
  local message = redis.sha1hex(owner) .. string.format('%.0f %.0f', number, length)
  -- A message is a hint: that it can't be sent must not undo what was done.
  redis.pcall(kind, string.sub(channel, 2), message)
end

-- The clock was set back: no end may lie further ahead than its term is long.
local function pull_in()
  local all = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do
    local record = redis.call('HGET', KEYS[2], all[i])
    if record then
      local longest = cmsgpack.unpack(string.sub(record, 2))[6]
      if string.sub(record, 1, 1) == 'w' then
        longest = longest * PATIENCE
      end
      if all[i + 1] - now > longest then
        redis.call('ZADD', KEYS[3], now + longest, all[i])
      end
    end
  end
end

-- Hands over to the head of the queue, for as long as it fits. Does not tell 'asking', who is being
-- answered. A waiter whose lease must start with its own question is not granted but told to ask.
local function hand_over(asking)
  local first = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
  while first do
    local record = redis.call('HGET', KEYS[2], first)
    if not record then
      redis.call('ZREM', KEYS[3], first)
      redis.call('ZREM', KEYS[4], first)
    else
      local kind, count, _, lease, _, interval, delay, client, channel, asks =
        unpack(cmsgpack.unpack(string.sub(record, 2)))
      if not fits(kind, count) then
        return
      end
      if asks == 1 then
        if first ~= asking then
          -- Its deadline is only ever shortened: whoever leaves the queue brings us here again, and
          -- must not keep one alive that is dead.
          local deadline = tonumber(redis.call('ZSCORE', KEYS[3], first) or 0)
          if deadline > now + HAND_OVER then
            redis.call('ZADD', KEYS[3], now + HAND_OVER, first)
          end
          tell(channel, first, 0, 0)
        end
        return
      end
      -- It may count the time from its last question on, and is told a length that allows for that.
      -- If its deadline was evicted, nobody knows when that was: it may have asked just now.
      local deadline = redis.call('ZSCORE', KEYS[3], first)
      local heard = deadline and deadline - interval * PATIENCE or now
      local silent = math.max(0, math.min(now - heard, interval * PATIENCE))
      local length = math.min(HAND_OVER, lease)
      local number = grant(first, kind, count, length + delay, delay, client)
      if not number then
        return
      end
      redis.call('ZREM', KEYS[4], first)
      if first ~= asking then
        tell(channel, first, number, math.min(length + silent, lease))
      end
    end
    first = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
  end
end

-- Does what time has brought.
local function settle(asking)
  if now < at then
    pull_in()
  end
  at = now
  for _, owner in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
    remove(owner)
  end
  if changed then
    hand_over(asking)
    changed = false
  end
end
