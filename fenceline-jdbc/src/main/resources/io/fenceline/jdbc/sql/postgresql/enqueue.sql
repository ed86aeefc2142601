-- enqueue.sql (PostgreSQL): puts a mutex claim at the end of the queue of a name that is not free, in one
-- statement, so that no row is locked while an answer is under way.
--
-- Returns who holds the name, and whether anyone who is alive waits before; no row if it is not so simple, and the
-- others have to be asked: if the name is free, has holders of its own kind beside the row or claims of
-- another kind, or if this owner is there already.
--
-- The claims are read as they were when the statement began, the row as it is once its lock was got. So
-- whoever is said to wait before may be gone by now, which costs until the next look. That two
-- copies of a claim add it twice is prevented by the key of the claims.

WITH named AS (
  UPDATE {locks} AS l SET tail = GREATEST(l.tail + 1, {now}), others = l.others + 1
  WHERE l.name = :name AND l.owner IS DISTINCT FROM :owner
    AND (l.others > 0 OR (l.owner IS NOT NULL AND l.ends > {arrived}))
    AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.owner = :owner)
    AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.name = :name AND c.held = 1)
    AND {whole} = COALESCE(
      CASE WHEN l.owner IS NOT NULL THEN l.capacity END,
      (SELECT c.capacity FROM {claims} AS c
       WHERE c.name = :name AND c.held = 0 ORDER BY c.place LIMIT 1))
    AND {lazy}
  RETURNING l.tail, l.client, {row_number} AS number, l.ends - {now} AS lasts,
    CASE WHEN l.owner IS NOT NULL AND l.ends > {now} THEN 1 ELSE 0 END AS held
), added AS (
  INSERT INTO {claims}
    (owner, name, held, place, number, units, capacity, ends, term, delay, since, client)
  SELECT :owner, :name, 0, named.tail, 0, {whole}, {whole}, {now} + :term, :term, :delay,
    {now}, :client
  FROM named
)
SELECT named.held, named.client, named.number, named.lasts,
  CASE WHEN EXISTS (
    SELECT 1 FROM {claims} AS a
    WHERE a.name = :name AND a.held = 0 AND a.ends > {now}) THEN 1 ELSE 0 END AS before
FROM named
