-- probe.lua: whether this server can run the other scripts; called once, when a store is opened.
--
-- KEYS[1]  the mark  fl1:{0}!  set by no one yet: a later format of the keys must set it to its number,
--                              so that clients of this one refuse to work beside it
--
-- Returns {milliseconds of the server's clock, mark or empty}.

local clock = redis.call('TIME')
local now = cmsgpack.unpack(cmsgpack.pack(clock[1] * 1000 + math.floor(clock[2] / 1000)))
return {now, redis.call('GET', KEYS[1]) or ''}
