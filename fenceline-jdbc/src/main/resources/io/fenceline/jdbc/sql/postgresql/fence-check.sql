-- fence-check.sql (PostgreSQL): lets a token pass and remembers it, in one statement.
--
-- :exclusive  the token if it is exclusive, otherwise 0
-- :token      the token
--
-- Returns the marks as they are now. The token has passed unless the mark for its mode is above it:
-- for an exclusive token the mark of any mode, for a shared one that of exclusive ones. A token that
-- is refused changes neither: the mark of any mode is at least as large as the other one.
--
-- Concurrent checks of a resource wait for each other at its row, also for the first one, and see the
-- row as it is once its lock was got: so READ COMMITTED is enough. Until the caller's transaction
-- ends, the row stays locked, which makes check and write one step. The condition holds, and may make the
-- transaction one that is on disk when it has committed.

INSERT INTO {fences} AS f (resource, exclusive_mark, any_mark, written_at)
SELECT :resource, :exclusive, :token, {seconds} {condition}
ON CONFLICT (resource) DO UPDATE SET
  exclusive_mark = CASE WHEN excluded.exclusive_mark >= f.any_mark THEN excluded.exclusive_mark
                        ELSE f.exclusive_mark END,
  any_mark       = GREATEST(f.any_mark, excluded.any_mark),
  written_at     = excluded.written_at
RETURNING exclusive_mark, any_mark
