-- inspect.sql: who holds a name and who waits, holders first; only those whose time is not over.

SELECT {now} AS now, s.*
FROM (
  SELECT owner, 1 AS held, 0 AS place, {row_number} AS number, units, capacity, ends, term, delay,
    {row_since} AS since, client
  FROM {locks} AS l WHERE name = :name AND owner IS NOT NULL
  UNION ALL
  SELECT owner, held, place, number, units, capacity, ends, term, delay, since, client
  FROM {claims} WHERE name = :name
) AS s
WHERE s.ends > {now}
ORDER BY s.held DESC, s.place, s.number
{all_rows}
