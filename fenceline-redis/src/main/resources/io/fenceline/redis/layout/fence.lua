-- fence.lua: lets a token pass and remembers it. Included before what it guards.
--
-- KEYS[1]  the resource   nothing is done to it here; all keys are in its slot
-- KEYS[2]  its marks      flf1:{slot}resource: the exclusive mark, that of any mode, both of 19 digits,
--                         and for how many milliseconds they are kept after a new token has passed
-- ARGV[1]  the token      as the marks will be if it is exclusive; with an s before it if it is shared
--
-- Fails with 'FENCED mark' if a larger token has passed, and does nothing.
--
-- A holder that writes again finds its marks, and there is nothing more to do. Otherwise a token is
-- compared in two parts, of ten and of nine digits, because numbers of Lua have 53 bits. Texts are not
-- compared, because Lua would do it by the locale of the server.

local call, keys, args = redis.call, KEYS, ARGV
local marks = call('GET', keys[2])
if marks ~= args[1] then
  local shared = string.sub(args[1], 1, 1) == 's'
  local offered = shared and string.sub(args[1], 2) or args[1]
  local token, keep = string.sub(offered, 1, 19), string.sub(offered, 41)

  local function below(one, other)
    local high, other_high = tonumber(string.sub(one, 1, 10)), tonumber(string.sub(other, 1, 10))
    if high ~= other_high then
      return high < other_high
    end
    return tonumber(string.sub(one, 11)) < tonumber(string.sub(other, 11))
  end

  local exclusive_mark, any_mark = '0000000000000000000', token
  if marks then
    exclusive_mark, any_mark = string.sub(marks, 1, 19), string.sub(marks, 21, 39)
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
  local new_marks = exclusive_mark .. ' ' .. any_mark .. ' ' .. keep
  if new_marks ~= marks then
    call('SET', keys[2], new_marks, 'PX', keep)
  end
end
