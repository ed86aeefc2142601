-- enqueue.sql (SQLite): makes room for a mutex claim at the end of the queue of a name that is not free.
--
-- Returns the claim's place and the time, for insert-claim.sql in the same transaction; who holds the name, and whether
-- anyone who is alive waits before; no row if it is not so simple, and the others have to be asked: if the
-- name is free, has holders of its own kind beside the row or claims of another kind, or if this owner is
-- there already.

UPDATE {locks} AS l SET tail = max(l.tail + 1, {now}), others = l.others + 1
WHERE l.name = :name AND l.owner IS NOT :owner
  AND (l.others > 0 OR (l.owner IS NOT NULL AND l.ends > {now}))
  AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.owner = :owner)
  AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.name = :name AND c.held = 1)
  AND {whole} = COALESCE(
    CASE WHEN l.owner IS NOT NULL THEN l.capacity END,
    (SELECT c.capacity FROM {claims} AS c
     WHERE c.name = :name AND c.held = 0 ORDER BY c.place LIMIT 1))
RETURNING tail AS place, {now} AS now, client, number, ends - {now} AS lasts,
  CASE WHEN owner IS NOT NULL AND ends > {now} THEN 1 ELSE 0 END AS held,
  EXISTS (
    SELECT 1 FROM {claims} AS a
    WHERE a.name = :name AND a.held = 0 AND a.ends > {now}) AS before
