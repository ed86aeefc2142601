-- snapshot.lua: what is there of a name, without doing what time has brought; for tests of replays.
--
-- KEYS     as in table.lua
--
-- Returns {now, keys that never expire, sum, [letter, owner, kind, count, total, number, end] ...}; the sum
-- is what the table says that its holders take, -1 if there is no table. Waiters have the number 0.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local endless = 0
for key = 1, 4 do
  if redis.call('PTTL', KEYS[key]) == -1 then
    endless = endless + 1
  end
end
local head = redis.call('GET', KEYS[1])
if not head then
  return {now, endless, -1}
end
local letter = string.sub(head, 1, 1)
if letter ~= 't' then
  local number, facts = string.match(head, '^(%d+) (.*)$', 18)
  local kind, count, total = unpack(cmsgpack.unpack(facts))
  local ends = redis.call('PEXPIRETIME', KEYS[1])
  return {now, endless, -1, {letter, string.sub(head, 2, 17), kind, count, total, tonumber(number), ends}}
end
local rows = {now, endless, cmsgpack.unpack(string.sub(head, 2))[3]}
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
  local record = cmsgpack.unpack(string.sub(all[i + 1], 2))
  local form = string.sub(all[i + 1], 1, 1)
  local number = form == 'w' and 0 or record[4]
  local ends = tonumber(redis.call('ZSCORE', KEYS[3], all[i]) or 0)
  rows[#rows + 1] = {form, all[i], record[1], record[2], record[3], number, ends}
end
return rows
