-- fence-hset.lua: a guarded HSET of the resource.
--
-- ARGV[2]   field, then its value, and so on
--
-- Returns how many fields are new.

--@include fence.lua
return call('HSET', keys[1], unpack(args, 2))
