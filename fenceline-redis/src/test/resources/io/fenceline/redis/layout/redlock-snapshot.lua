-- redlock-snapshot.lua: what a node of a Redlock has of a name, without doing what time has brought; for
-- tests of replays.
--
-- KEYS     as in redlock-name.lua
--
-- Returns what snapshot.lua does; there is no sum, and no waiters. Grants of the first round have the letter
-- t.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local endless = 0
for key = 3, 4 do
  if redis.call('PTTL', KEYS[key]) == -1 then
    endless = endless + 1
  end
end
local rows = {now, endless, -1}
local packed = redis.call('GET', KEYS[3])
if packed then
  local record = cmsgpack.unpack(packed)
  for _, grant in ipairs(record[3]) do
    if grant[9] > now then
      local letter = grant[5] == 'c' and 'h' or grant[5]
      rows[#rows + 1] = {
        letter, grant[1], grant[2], math.max(1, #grant[3]), record[1], grant[4], grant[9]
      }
    end
  end
end
return rows
