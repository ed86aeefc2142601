-- withdraw.lua: makes sure that nothing of a claim is left, be it waiting or granted.
--
-- KEYS     as in table.lua
-- ARGV[1]  owner
--
-- Returns 1 if there was anything of it, else 0. If it was granted already, the name is handed to
-- whoever is next, as by a release.

local head = redis.call('GET', KEYS[1])
if not head then
  return 0
end
if string.sub(head, 1, 1) ~= 't' then
  if string.sub(head, 1, 17) ~= 'h' .. ARGV[1] then
    return 0
  end
  redis.call('DEL', KEYS[1])
  return 1
end

--@include number.lua
--@include solo.lua
--@include table.lua

open(head)
settle()
local own = redis.call('HGET', KEYS[2], ARGV[1])
local there = own and string.sub(own, 1, 1) ~= 'k'
if there then
  remove(ARGV[1])
  settle()
end
close()
return there and 1 or 0
