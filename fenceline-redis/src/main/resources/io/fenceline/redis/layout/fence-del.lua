-- fence-del.lua: a guarded DEL of the resource. Its marks stay, so that no stale writer makes it again.
--
-- Returns how many keys were deleted, 0 or 1.

--@include fence.lua
return call('DEL', keys[1])
