-- read-claims.sql: the time, and what decides about a name beside its row.
--
-- All other holders, the first few who wait, and the claim of one owner. A statement of its own,
-- after the lock was got: one that waited for the lock would not see what was written meanwhile.
-- There is always at least one row, for the time.

SELECT {now} AS now, c.owner, c.held, c.place, c.number, c.units, c.capacity,
       c.ends, c.term, c.delay, c.since, c.client
FROM (SELECT 1 AS one) AS t
LEFT JOIN (
  SELECT * FROM {claims} WHERE name = :name AND held = 1
  UNION
  SELECT * FROM (
    SELECT * FROM {claims} WHERE name = :name AND held = 0 ORDER BY place LIMIT {front}
  ) AS f
  UNION
  SELECT * FROM {claims} WHERE owner = :owner AND name = :name
) AS c ON 1 = 1
ORDER BY c.place
{all_rows}
