-- fence-check.sql (MariaDB): lets a token pass and remembers it, in one statement.
--
-- :exclusive  the token if it is exclusive, otherwise 0
-- :token      the token
--
-- Returns the marks as they are now. The token has passed unless the mark for its mode is above it:
-- for an exclusive token the mark of any mode, for a shared one that of exclusive ones. A token that
-- is refused changes neither: the mark of any mode is at least as large as the other one.
--
-- Concurrent checks of a resource wait for each other at its row and see it as it is then, at every
-- isolation level. Until the caller's transaction ends, the row stays locked, which makes check and
-- write one step. The assignments are done one after the other: the first one sees the old marks.

INSERT INTO {fences} (resource, exclusive_mark, any_mark, written_at)
VALUES (:resource, :exclusive, :token, {seconds})
ON DUPLICATE KEY UPDATE
  exclusive_mark = IF(VALUES(exclusive_mark) >= any_mark, VALUES(exclusive_mark), exclusive_mark),
  any_mark       = GREATEST(any_mark, VALUES(any_mark)),
  written_at     = VALUES(written_at)
RETURNING exclusive_mark, any_mark
