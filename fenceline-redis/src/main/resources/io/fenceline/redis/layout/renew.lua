-- renew.lua: starts leases again, many at once; each hold's fate is its own.
--
-- KEYS     for each hold, in order: head, records, deadlines, queue, as in table.lua; or the head alone
-- ARGV[1]  how many keys each hold has: 4, or 1
-- ARGV[2]  owner, term in milliseconds and number of the first hold, then of the second, and so on
--
-- Returns for each hold 1 if it runs again, 0 if the grant is gone, 2 if all four keys are needed.
--
-- With the head alone a hold can be renewed while its slot migrates: Redis refuses several keys then
-- if some of them do not exist. Nothing is granted here.
--
-- Another number is another grant: a failover forgot the hold's, and the queue, which it did not forget,
-- gave the name to the same owner anew, perhaps after someone else had it. The holder has to learn of it.

local SPARE = 10000 -- As in table.lua.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local width = tonumber(ARGV[1])

--@include prolong.lua
--@include solo.lua

local function renew_alone(key, head, term, number)
  local record = solo_record(KEYS[key], head)
  if record[9] <= now or record[4] ~= number then
    return 0
  end
  record[6], record[9] = math.max(record[6], term), prolonged(record[9], record[6], term)
  write_solo(KEYS[key], 'h', string.sub(head, 2, 17), record)
  return 1
end

local function renew_in_table(key, head, owner, term, number)
  local own = redis.call('HGET', KEYS[key + 1], owner)
  local ends = redis.call('ZSCORE', KEYS[key + 2], owner)
  if not own or string.sub(own, 1, 1) ~= 'h' or not ends or tonumber(ends) <= now then
    return 0
  end
  local record = cmsgpack.unpack(string.sub(own, 2))
  if record[4] ~= number then
    return 0
  end
  ends = prolonged(tonumber(ends), record[6], term)
  if record[6] < term then
    record[6] = term
    redis.call('HSET', KEYS[key + 1], owner, 'h' .. cmsgpack.pack(record))
  end
  redis.call('ZADD', KEYS[key + 2], ends, owner)
  -- A clock that was set back is noticed by its being behind what is written here, and dealt with by
  -- whoever settles the name next.
  local summary = cmsgpack.unpack(string.sub(head, 2))
  summary[1] = math.max(summary[1], now)
  local longer = ends + 1000 > summary[6]
  if longer then
    summary[6] = ends + SPARE
  end
  redis.call('SET', KEYS[key], 't' .. cmsgpack.pack(summary), 'KEEPTTL')
  if longer then
    for other = 0, 3 do
      redis.call('PEXPIREAT', KEYS[key + other], summary[6])
    end
  end
  return 1
end

local answers = {}
for hold = 0, #KEYS / width - 1 do
  local key, owner = hold * width + 1, ARGV[hold * 3 + 2]
  local term, number = tonumber(ARGV[hold * 3 + 3]), tonumber(ARGV[hold * 3 + 4])
  local head = redis.call('GET', KEYS[key])
  local answer = 0
  if head and string.sub(head, 1, 1) == 't' then
    answer = width == 1 and 2 or renew_in_table(key, head, owner, term, number)
  elseif head and string.sub(head, 1, 17) == 'h' .. owner then
    answer = renew_alone(key, head, term, number)
  end
  answers[hold + 1] = answer
end
return answers
