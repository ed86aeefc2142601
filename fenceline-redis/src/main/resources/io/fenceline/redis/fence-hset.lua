-- fence-hset.lua: a guarded HSET of the resource.
--
-- ARGV[4]   field, then its value, and so on
--
-- Returns how many fields are new.

--@include fence.lua
return redis.call('HSET', KEYS[1], unpack(ARGV, 4))
