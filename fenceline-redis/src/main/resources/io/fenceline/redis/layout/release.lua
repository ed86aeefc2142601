-- release.lua: gives a grant back, and hands the name to whoever is next.
--
-- KEYS     as in table.lua
-- ARGV[1]  owner
-- ARGV[2]  keep  how long the name stays closed from now on, in milliseconds; 0 opens it
--
-- Returns 1, or 0 if the grant was gone. Only the owner's own grant is touched, so a repeat that comes
-- late is harmless. Nothing is published when nobody waits.

local head = redis.call('GET', KEYS[1])
if not head then
  return 0
end
local solo = string.sub(head, 1, 1) ~= 't'
if solo and string.sub(head, 1, 17) ~= 'h' .. ARGV[1] then
  return 0
end
if solo and ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
  return 1
end

--@include number.lua
--@include solo.lua

local owner, keep = ARGV[1], tonumber(ARGV[2])
if solo then
  local record = solo_record(KEYS[1], head)
  record[6], record[9] = keep, now + keep
  write_solo(KEYS[1], 'k', owner, record)
  return 1
end

--@include table.lua

open(head)
settle()
local own = redis.call('HGET', KEYS[2], owner)
local held = own and string.sub(own, 1, 1) == 'h'
if held and keep == 0 then
  remove(owner)
  settle()
elseif held then
  hold('k', owner, cmsgpack.unpack(string.sub(own, 2)), keep)
end
close()
return held and 1 or 0
