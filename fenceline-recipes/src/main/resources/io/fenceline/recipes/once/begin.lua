-- begin.lua: makes the record of a key, or takes it over from a worker that vanished.
--
-- KEYS[1]  the record  flo1:NAME:KEY  hash: s state (1 begun, 2 done, 3 failed), f fingerprint,
--          t token, n attempts, a milliseconds since 1970, w worker, r result
-- ARGV[1]  fingerprint
-- ARGV[2]  token       19 digits: compared as text, since a number of Lua has only 53 bits
-- ARGV[3]  worker
-- ARGV[4]  rerun       1: take over from a worker with a smaller token
--
-- Returns {s, f, t, n, a, w, r} as they are afterwards; r is empty unless it is finished.
--
-- A finished record is never changed, and neither is one with a larger token. A repeat by the same
-- token changes nothing. A begun record does not expire: see OnceRecords.

local found = redis.call('HMGET', KEYS[1], 's', 'f', 't', 'n')
local take = not found[1]
if found[1] == '1' and ARGV[4] == '1' and found[2] == ARGV[1] and found[3] < ARGV[2] then
  take = true
end
if take then
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[1], 's', '1', 'f', ARGV[1], 't', ARGV[2],
    'n', (tonumber(found[4]) or 0) + 1,
    'a', string.format('%d', now[1] * 1000 + math.floor(now[2] / 1000)), 'w', ARGV[3])
end
local entry = redis.call('HMGET', KEYS[1], 's', 'f', 't', 'n', 'a', 'w', 'r')
entry[7] = entry[7] or ''
return entry
