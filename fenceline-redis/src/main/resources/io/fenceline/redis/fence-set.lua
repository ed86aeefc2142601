-- fence-set.lua: a guarded SET of the resource.
--
-- ARGV[4]  value
-- ARGV[5]  how long the value lives, in milliseconds; absent: for ever

--@include fence.lua
if ARGV[5] then
  return redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
end
return redis.call('SET', KEYS[1], ARGV[4])
