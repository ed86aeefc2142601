-- fence-set.lua: a guarded SET of the resource.
--
-- ARGV[2]  value
-- ARGV[3]  how long the value lives, in milliseconds; absent: for ever

--@include fence.lua
if args[3] then
  return call('SET', keys[1], args[2], 'PX', args[3])
end
return call('SET', keys[1], args[2])
