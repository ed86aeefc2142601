-- rights.lua: which commands of the other scripts this user may not run; each is tried in a way that
-- changes nothing.
--
-- KEYS[1]  a key that nobody has  fl1:{bucket}?
-- KEYS[2]  the counter, as in table.lua
-- ARGV[1]  a channel that nobody listens to
-- ARGV[2]  likewise a sharded one; empty where there are none
--
-- Returns the names of the commands, and why.

local key, counter = KEYS[1], KEYS[2]
local missing = {}

local function try(...)
  local answer = redis.pcall(...)
  local why = type(answer) == 'table' and answer.err
  -- As Redis says it before 7.2 and since; any other failure is what is asked for here.
  if why and (string.find(why, 'user executing the script', 1, true)
      or string.find(why, 'ACL failure', 1, true) or string.find(why, 'NOPERM', 1, true)) then
    missing[#missing + 1] = (...) .. ': ' .. why
    return nil
  end
  return answer
end

try('TIME')
try('MGET', key)
local last = try('GET', counter)
if last then
  try('GETSET', counter, last)
else
  try('GETSET', counter, 0)
  redis.pcall('DEL', counter)
end
try('SET', key, '', 'NOSUCHOPTION')
try('MSET', key, '', key)
try('DEL', key)
try('PTTL', key)
try('PEXPIREAT', key, 1)
try('HGET', key, '')
try('HSET', key, '', '', '')
try('HDEL', key, '')
try('HGETALL', key)
try('ZADD', key, 'nonumber', '')
try('ZREM', key, '')
try('ZRANGE', key, 0, -1)
try('ZRANGEBYSCORE', key, 0, 0)
try('ZRANK', key, '')
try('ZSCORE', key, '')
try('ZCARD', key)
try('PUBLISH', ARGV[1], '')
if ARGV[2] ~= '' then
  try('SPUBLISH', ARGV[2], '')
end
return missing
