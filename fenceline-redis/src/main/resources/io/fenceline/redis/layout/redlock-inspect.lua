-- redlock-inspect.lua: what one node of a Redlock has of a name.
--
-- KEYS     as in redlock-name.lua
--
-- Returns a list of rows {owner, kind, count, total, client, since, number, remaining_ms, state, attempt,
-- term_ms}.
-- The owner is a secret: whoever reads it shows its hash only.

--@include redlock-name.lua

local record = load(KEYS[3])
local rows = {}
for _, grant in ipairs(record[3]) do
  rows[#rows + 1] = {
    grant[1], grant[2], math.max(1, #grant[3]), record[1], grant[10], grant[6], grant[4],
    grant[9] - now, grant[5], grant[11], grant[7]
  }
end
return answer(KEYS[3], record, rows)
