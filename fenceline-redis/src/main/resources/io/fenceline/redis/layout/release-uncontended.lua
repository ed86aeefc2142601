-- release-uncontended.lua: gives a grant back that nobody waits for; the short way of release.lua.
--
-- KEYS[1]  the head, as in table.lua
-- ARGV[1]  'h' and the owner
--
-- Returns 1, or 0 if the grant was gone, or 2 if the name has a table: release.lua then does it.

local head = redis.call('GET', KEYS[1])
if not head then
  return 0
end
if string.sub(head, 1, 17) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
return string.sub(head, 1, 1) == 't' and 2 or 0
