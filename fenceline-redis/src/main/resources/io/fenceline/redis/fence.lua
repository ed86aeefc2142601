-- fence.lua: lets a token pass and remembers it. Included before what it guards.
--
-- KEYS[1]  the resource   nothing is done to it here; all keys are in its slot
-- KEYS[2]  its marks      flf1:{slot}resource: the exclusive mark, a space, that of any mode
-- ARGV[1]  token          19 digits, as the marks are
-- ARGV[2]  mode           x or s
-- ARGV[3]  keep_ms        how long marks are kept after a new token has passed
--
-- Fails with 'FENCED mark' if a larger token has passed, and does nothing.
--
-- Numbers of Lua have 53 bits, so a token is compared in two parts, of ten and of nine digits. Texts
-- are not compared, because Lua would do it by the locale of the server.

local function below(one, other)
  if one == other then
    return false
  end
  local high, other_high = tonumber(string.sub(one, 1, 10)), tonumber(string.sub(other, 1, 10))
  if high ~= other_high then
    return high < other_high
  end
  return tonumber(string.sub(one, 11)) < tonumber(string.sub(other, 11))
end

local token, shared = ARGV[1], ARGV[2] == 's'
local marks = redis.call('GET', KEYS[2])
local exclusive_mark, any_mark = '0000000000000000000', token
if marks then
  exclusive_mark, any_mark = string.sub(marks, 1, 19), string.sub(marks, 21)
  local mark = shared and exclusive_mark or any_mark
  if below(token, mark) then
    return redis.error_reply('FENCED ' .. mark)
  end
end
if not shared then
  exclusive_mark = token
end
if below(any_mark, token) then
  any_mark = token
end
local new_marks = exclusive_mark .. ' ' .. any_mark
if new_marks ~= marks then
  redis.call('SET', KEYS[2], new_marks, 'PX', ARGV[3])
end
