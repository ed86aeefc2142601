-- fence-check.lua: a check alone.

--@include fence.lua
return 1
