-- inspect.lua: who holds a name, and who waits for it.
--
-- KEYS     as in table.lua
--
-- Returns a list of rows: {'h', owner, kind, count, total, client, since, number, remaining_ms} for
-- holders, then {'w', owner, kind, count, total, client, since} for waiters in the order of the queue.
-- The owner is a secret: whoever reads it shows its hash only.

--@include number.lua
--@include solo.lua

local head = redis.call('GET', KEYS[1])
if not head then
  return {}
end
if string.sub(head, 1, 1) ~= 't' then
  local record = solo_record(KEYS[1], head)
  local left = math.min(record[9] - now, record[6])
  if left <= 0 then
    return {}
  end
  return {
    {'h', string.sub(head, 2, 17), record[1], record[2], record[3], record[8], record[5], record[4], left}
  }
end

--@include table.lua

open(head)
settle()
close()
local rows = {}
local all = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
for i = 1, #all, 2 do
  local packed = redis.call('HGET', KEYS[2], all[i])
  if packed and string.sub(packed, 1, 1) ~= 'w' then
    local record = cmsgpack.unpack(string.sub(packed, 2))
    rows[#rows + 1] = {
      'h', all[i], record[1], record[2], record[3], record[8], record[5], record[4], all[i + 1] - now
    }
  end
end
for _, owner in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
  local packed = redis.call('HGET', KEYS[2], owner)
  if packed then
    local record = cmsgpack.unpack(string.sub(packed, 2))
    rows[#rows + 1] = {'w', owner, record[1], record[2], record[3], record[8], record[5]}
  end
end
return rows
