-- claim.sql (PostgreSQL): takes a name that nobody holds or waits for, in one statement.
--
-- Returns the grant number; no row if the name is not simply free, and the long way has to be gone.
-- A repeat by the owner that holds it starts the lease again and returns the same number; the lease
-- never ends sooner by it, since the repeat may come after a renewal.
--
-- The look before the insert only spares a name in use the write; what decides is the condition of
-- the update, which sees the row as it is once its lock was got. The commit is on disk before it is
-- answered, whatever the database's default.

INSERT INTO {locks} AS l
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
SELECT
  :name, GREATEST(:seen + 1, {arrived_number}, {after_forgotten}), 0, 0, :owner,
  GREATEST(:seen + 1, {arrived_number}, {after_forgotten}),
  :units, :capacity, {arrived} + :term, :term, :delay, {arrived}, :client
WHERE {durable}
  AND NOT EXISTS (
    SELECT 1 FROM {locks} AS b
    WHERE b.name = :name AND b.owner IS DISTINCT FROM :owner
      AND (b.others > 0 OR (b.owner IS NOT NULL AND b.ends > {arrived})))
ON CONFLICT (name) DO UPDATE SET
  last_number = CASE WHEN l.owner = excluded.owner THEN l.last_number
                     ELSE GREATEST(l.last_number + 1, excluded.number) END,
  number      = CASE WHEN l.owner = excluded.owner THEN {row_number}
                     ELSE GREATEST(l.last_number + 1, excluded.number) END,
  since       = CASE WHEN l.owner = excluded.owner THEN {row_since} ELSE excluded.since END,
  ends        = CASE WHEN l.owner = excluded.owner THEN GREATEST(l.ends, excluded.ends)
                     ELSE excluded.ends END,
  term        = CASE WHEN l.owner = excluded.owner THEN GREATEST(l.term, excluded.term)
                     ELSE excluded.term END,
  owner = excluded.owner, units = excluded.units, capacity = excluded.capacity,
  delay = excluded.delay, client = excluded.client
WHERE l.owner = excluded.owner
   OR (l.others = 0 AND l.last_number < {max_number} AND (l.owner IS NULL OR l.ends <= {arrived}))
RETURNING number
