-- redlock_name.lua: what one node of a Redlock knows of names. Included by the scripts that work on
-- names.
--
-- KEYS[1]  the state    fl1:r!      hash: 'run', the run of this server that may vote; the counter of
--                                   each bucket, by its number; 'longest', the longest term so far
-- KEYS[2]  the index    fl1:r~      sorted set: name -> when the last of its grants ends
-- KEYS[3]  the name     fl1:r:name  string: {total, top, grants}; expires with the last grant
-- KEYS[4]  who waits    fl1:r@name  set of the channels of clients that wait; expires soon
--
-- A grant: {owner, kind, slots, number, state, since, term, delay, end, client}. Kind is 'x', 's' or
-- 'p'; slots are the permits, by number, of 'p'. State is 't', granted by this node in the first
-- round; 'c', confirmed in the second; 'k', ended and keeps the name closed: it is nobody's. Total is 0
-- unless it is permits. Top is the largest number that was confirmed here while the name was in use.
-- Times in milliseconds.
--
-- A node that was restarted or emptied has no 'run', or that of a server that is no more: clients send
-- the run that their connection is to. Such a node grants nothing until redlock_admit.lua lets it.

--@include number.lua

local dirty = false

local function load(key)
  local packed = redis.call('GET', key)
  if not packed then
    return {0, 0, {}}
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
  record[3] = live
  return record
end

local function save(key, record)
  local last = 0
  for _, grant in ipairs(record[3]) do
    last = math.max(last, grant[9])
  end
  local name = string.sub(key, 7)
  if last == 0 then
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[2], name)
  else
    redis.call('SET', key, cmsgpack.pack(record), 'PX', last - now)
    redis.call('ZADD', KEYS[2], last, name)
  end
end

-- The grant of an owner, and its place; none if it has ended and only keeps the name closed.
local function own(record, owner)
  for place, grant in ipairs(record[3]) do
    if grant[1] == owner and grant[5] ~= 'k' then
      return grant, place
    end
  end
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

local function remember_term(longest, term)
  if term > (tonumber(longest) or 0) then
    redis.call('HSET', KEYS[1], 'longest', term)
  end
end
