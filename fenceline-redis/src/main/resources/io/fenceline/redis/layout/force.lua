-- force.lua: ends the grant with a number, whoever owns it; with a lock-delay, the name stays
-- closed for that long, at most.
--
-- KEYS     as in table.lua
-- ARGV[1]  number
--
-- Returns 1, or 0 if there is no such grant.

--@include number.lua
--@include solo.lua
--@include table.lua

local number = tonumber(ARGV[1])
local head = redis.call('GET', KEYS[1])
if not head then
  return 0
end
if string.sub(head, 1, 1) ~= 't' and solo_record(KEYS[1], head)[4] ~= number then
  return 0
end
open(head)
settle()
local found = 0
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
  local record = cmsgpack.unpack(string.sub(all[i + 1], 2))
  if string.sub(all[i + 1], 1, 1) ~= 'w' and record[4] == number then
    found = 1
    local ends = redis.call('ZSCORE', KEYS[3], all[i]) or now
    local left = math.min(ends - now, record[7])
    if left > 0 then
      hold('k', all[i], record, left)
    else
      remove(all[i])
    end
  end
end
settle()
close()
return found
