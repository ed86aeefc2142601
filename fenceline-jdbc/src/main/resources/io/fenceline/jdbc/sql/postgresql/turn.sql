-- turn.sql (PostgreSQL): grants a name to the first who waits for it, as a mutex, in one statement.
--
-- Returns the grant number; no row if it is not so simple, and the long way has to be gone: if the name is
-- held, anyone is before it in the queue, be it dead, or the claim is about to be forgotten.
--
-- The claims are read as they were when the statement began, and the row as it is once its lock was got.
-- What could have changed in between: one who waits before, which none can become, since places only
-- grow; another holder, who would have got a number; and this claim itself, whose row is locked first. The
-- other way round, the row first and then a claim, is gone only for claims that are over or have an end
-- that can't be believed: these are left to it. The commit is on disk before it is answered.

WITH taken AS (
  UPDATE {locks} AS l SET
    last_number = GREATEST(l.last_number + 1, :seen + 1, {arrived_number}), number = 0,
    owner = :owner, units = {whole}, capacity = {whole}, ends = {arrived} + :term, term = :term,
    delay = w.delay, since = 0, client = w.client, others = l.others - 1
  FROM (
    SELECT c.place, c.delay, c.client,
      (SELECT s.last_number FROM {locks} AS s WHERE s.name = :name) AS seen_number
    FROM {claims} AS c
    WHERE c.owner = :owner AND c.name = :name AND c.held = 0
      AND c.ends > {now} + c.term / 4 AND c.ends <= {now} + c.term + {slack}
    FOR UPDATE OF c
  ) AS w
  WHERE l.name = :name AND l.owner IS NULL AND l.last_number = w.seen_number
    AND l.last_number < {max_number}
    AND NOT EXISTS (SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 1)
    AND NOT EXISTS (
      SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 0 AND a.place < w.place)
    AND {durable}
  RETURNING l.last_number
), gone AS (
  DELETE FROM {claims} WHERE owner = :owner AND EXISTS (SELECT 1 FROM taken)
)
SELECT last_number FROM taken
