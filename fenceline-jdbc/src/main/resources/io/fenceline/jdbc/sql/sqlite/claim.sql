-- claim.sql (SQLite): takes a name that nobody holds or waits for, in one statement.
--
-- Returns the grant number; no row if the name is not simply free, and the long way has to be gone.
-- A repeat by the owner that holds it starts the lease again and returns the same number; the lease
-- never ends sooner by it, since the repeat may come after a renewal.

INSERT INTO {locks} AS l
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES
  (:name, max(:seen + 1, {clock_number}, {after_forgotten}), 0, 0, :owner,
   max(:seen + 1, {clock_number}, {after_forgotten}),
   :units, :capacity, {now} + :term, :term, :delay, {now}, :client)
ON CONFLICT (name) DO UPDATE SET
  last_number = CASE WHEN l.owner = excluded.owner THEN l.last_number
                     ELSE max(l.last_number + 1, excluded.number) END,
  number      = CASE WHEN l.owner = excluded.owner THEN l.number
                     ELSE max(l.last_number + 1, excluded.number) END,
  since       = CASE WHEN l.owner = excluded.owner THEN l.since ELSE excluded.since END,
  ends        = CASE WHEN l.owner = excluded.owner THEN max(l.ends, excluded.ends)
                     ELSE excluded.ends END,
  term        = CASE WHEN l.owner = excluded.owner THEN max(l.term, excluded.term)
                     ELSE excluded.term END,
  owner = excluded.owner, units = excluded.units, capacity = excluded.capacity,
  delay = excluded.delay, client = excluded.client
WHERE l.owner = excluded.owner
   OR (l.others = 0 AND l.last_number < {max_number} AND (l.owner IS NULL OR l.ends <= {now}))
RETURNING number
