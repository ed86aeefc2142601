-- fence-check.sql (MySQL): lets a token pass and remembers it; fence-marks.sql says whether it has passed.
--
-- :exclusive  the token if it is exclusive, otherwise 0
-- :token      the token
--
-- A token that is refused changes neither mark: that of any mode is at least as large as the other one.
--
-- Concurrent checks of a resource wait for each other at its row and see it as it is then, at every
-- isolation level. Until the caller's transaction ends, the row stays locked, which makes check and
-- write one step. Right in whichever order the assignments are done: the token is at least the mark of any
-- mode if, and only if, it was so before that mark has grown to it.

INSERT INTO {fences} (resource, exclusive_mark, any_mark, written_at)
VALUES (:resource, :exclusive, :token, {seconds})
ON DUPLICATE KEY UPDATE
  exclusive_mark = IF(:exclusive >= any_mark, :exclusive, exclusive_mark),
  any_mark       = GREATEST(any_mark, :token),
  written_at     = {seconds}
