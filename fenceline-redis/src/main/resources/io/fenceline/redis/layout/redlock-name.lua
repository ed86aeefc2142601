-- redlock-name.lua: what one node of a Redlock knows of names. Included by the scripts that work on
-- names.
--
-- KEYS[1]  the state    fl1:r!      hash: 'run', the run of this server that may vote; the counter of
--                                   each bucket, by its number; 't' and a class of terms: the longest of
--                                   them and the end of the last grant that has one; 'f' and an owner: the
--                                   number of its hold, ended by force, until when and for how long that
--                                   is remembered; and what redlock-admit.lua needs
-- KEYS[2]  the index    fl1:r~      sorted set: name -> when the last of its grants ends
-- KEYS[3]  the name     fl1:r:name  string: {total, top, grants, ends}; expires after the last of them
-- KEYS[4]  who waits    fl1:r@name  set of the channels of clients that wait; expires soon
--
-- A grant: {owner, kind, slots, number, state, since, term, delay, end, client, attempt}. Kind is 'x',
-- 's' or 'p'; slots are the permits, by number, of 'p'. State is 't', granted by this node in the first
-- round; 'c', confirmed in the second; 'k', ended and keeps the name closed: it is nobody's. Total is 0
-- unless it is permits. Top is the largest number that was confirmed here while the name was in use.
-- Times in milliseconds.
--
-- An owner makes one attempt after the other, with numbers that rise. A grant has the number of the
-- attempt that it was claimed by last, or HELD if it was given to this node because its owner holds the
-- name already. A request that is late names an earlier attempt than the grant has, and changes nothing.
--
-- Ends: {owner, attempt, until, term}. What an owner claimed up to that attempt is over, though a request
-- about it may still be on its way: until then it is turned away. Nobody is kept out by it.
--
-- A node that was restarted or emptied has no 'run', or that of a server that is no more: clients send
-- the run that their connection is to. Such a node grants nothing until redlock-admit.lua lets it. A name
-- that is gone before its time, by the index, was evicted: that is a loss of memory, too, and the node
-- gives up its vote. (It has to be looked for: the index and the state never expire, so that policies
-- that evict what expires take names only.)

--@include number.lua

local HELD = 9007199254740991
local SLACK = 1000 -- Redis counts a key's time from a moment before now: it must not go first.
local dirty, forgotten = false, false

local function load(key)
  local packed = redis.call('GET', key)
  if not packed then
    local name = string.sub(key, 7)
    if (tonumber(redis.call('ZSCORE', KEYS[2], name) or 0)) > now then
      redis.call('ZREM', KEYS[2], name)
      redis.call('HDEL', KEYS[1], 'run')
      forgotten = true
    end
    return {0, 0, {}, {}}
  end
  local record = cmsgpack.unpack(packed)
  local live = {}
  for _, grant in ipairs(record[3]) do
    if grant[9] - now > grant[7] then
      grant[9] = now + grant[7] -- The clock was set back.
      dirty = true
    end
    if grant[9] > now then
      live[#live + 1] = grant
    end
  end
  local ends = {}
  for _, ended in ipairs(record[4]) do
    if ended[3] - now > ended[4] then
      ended[3] = now + ended[4]
      dirty = true
    end
    if ended[3] > now then
      ends[#ends + 1] = ended
    end
  end
  record[3], record[4] = live, ends
  return record
end

local function save(key, record)
  local last = 0
  for _, grant in ipairs(record[3]) do
    last = math.max(last, grant[9])
  end
  local name = string.sub(key, 7)
  if last == 0 then
    redis.call('ZREM', KEYS[2], name)
  else
    redis.call('ZADD', KEYS[2], last, name)
  end
  for _, ended in ipairs(record[4]) do
    last = math.max(last, ended[3])
  end
  if last == 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, cmsgpack.pack(record), 'PX', last - now + SLACK)
  end
  dirty = false
end

-- What a script answers that has changed nothing itself: what time has brought is kept all the same.
local function answer(key, record, said)
  if dirty then
    save(key, record)
  end
  return said
end

-- Whether what an owner claimed in an attempt is over, and the request is late.
local function is_over(record, owner, attempt)
  for _, ended in ipairs(record[4]) do
    if ended[1] == owner and attempt <= ended[2] then
      return true
    end
  end
  return false
end

-- Turns requests of an owner away that are still on their way, up to an attempt, for a while.
local function turn_away(record, owner, attempt, term)
  for place, ended in ipairs(record[4]) do
    if ended[1] == owner then
      attempt = math.max(attempt, ended[2])
      term = math.max(term, ended[3] - now)
      table.remove(record[4], place)
      break
    end
  end
  record[4][#record[4] + 1] = {owner, attempt, now + term, term}
end

-- The grant of an owner, and its place; none if it has ended and only keeps the name closed.
local function own(record, owner)
  for place, grant in ipairs(record[3]) do
    if grant[1] == owner and grant[5] ~= 'k' then
      return grant, place
    end
  end
end

-- What keeps the name closed after an owner's grant has ended, and its place.
local function kept_closed(record, owner)
  for place, grant in ipairs(record[3]) do
    if grant[1] == owner and grant[5] == 'k' then
      return grant, place
    end
  end
end

-- Whether it is not known which permits they are: such a grant would be in nobody's way.
local function is_vague(kind, slots)
  return kind == 'p' and #slots == 0
end

-- A grant that stands in the way; nil if there is none.
local function conflict(record, owner, kind, slots)
  local wanted = {}
  for _, slot in ipairs(slots) do
    wanted[slot] = true
  end
  for _, grant in ipairs(record[3]) do
    if grant[1] ~= owner or grant[5] == 'k' then
      if kind == 'x' or grant[2] == 'x' then
        return grant
      end
      for _, slot in ipairs(grant[3]) do
        if wanted[slot] then
          return grant
        end
      end
    end
  end
end

local function numbers(text)
  local list = {}
  for digits in string.gmatch(text, '%d+') do
    list[#list + 1] = tonumber(digits)
  end
  return list
end

-- Raises the counter of a bucket.
local function count(bucket, last, number)
  if number > (tonumber(last) or 0) then
    redis.call('HSET', KEYS[1], bucket, number)
  end
end

-- Remembers that a grant of this term runs: of terms that are about as long, the longest, and the last
-- end. A node that loses its memory waits for the longest term of which one runs, see redlock-survey.lua.
local function remember_term(term, ends)
  local class = 't' .. math.floor(4 * math.log(math.max(1, term)) / math.log(2))
  local known = redis.call('HGET', KEYS[1], class) or ''
  local longest, last = string.match(known, '^(%d+) (%d+)$')
  longest, last = tonumber(longest or 0), tonumber(last or 0)
  last = math.min(last, now + longest) -- The clock may have been set back.
  if last <= now then
    longest = 0
  end
  if term > longest or ends > last then
    redis.call(
      'HSET', KEYS[1], class, string.format('%.0f %.0f', math.max(term, longest), math.max(ends, last)))
  end
end

-- Whether a hold was ended by force: it never comes back, though its owner may believe in it.
local function is_forced(owner, number)
  local known = redis.call('HGET', KEYS[1], 'f' .. owner)
  return known and number <= tonumber(string.match(known, '^%d+'))
end

-- Remembers that a hold was ended by force, for as long as its owner may believe in it.
local function remember_force(owner, number, term)
  local known = redis.call('HGET', KEYS[1], 'f' .. owner) or ''
  local before, ends, longest = string.match(known, '^(%d+) (%d+) (%d+)$')
  if before then
    number = math.max(number, tonumber(before))
    term = math.max(term, math.min(ends - now, tonumber(longest)))
  end
  redis.call(
    'HSET', KEYS[1], 'f' .. owner, string.format('%.0f %.0f %.0f', number, now + term, term))
end
