-- turn.sql (SQLite): grants a name to the first who waits for it, as a mutex; delete-claim.sql takes its claim out
-- of the queue in the same transaction.
--
-- Returns the grant number; no row if it is not so simple, and the long way has to be gone: if the name is
-- held, anyone is before it in the queue, be it dead, or the claim has an end that can't be believed.

UPDATE {locks} AS l SET
  last_number = max(l.last_number + 1, :seen + 1, {clock_number}),
  number      = max(l.last_number + 1, :seen + 1, {clock_number}),
  owner = :owner, units = {whole}, capacity = {whole}, ends = {now} + :term, term = :term,
  delay = w.delay, since = {now}, client = w.client, others = l.others - 1
FROM (
  SELECT c.place, c.delay, c.client FROM {claims} AS c
  WHERE c.owner = :owner AND c.name = :name AND c.held = 0
    AND c.ends > {now} AND c.ends <= {now} + c.term + {slack}
) AS w
WHERE l.name = :name AND l.owner IS NULL AND l.last_number < {max_number}
  AND NOT EXISTS (SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 1)
  AND NOT EXISTS (
    SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 0 AND a.place < w.place)
RETURNING last_number
