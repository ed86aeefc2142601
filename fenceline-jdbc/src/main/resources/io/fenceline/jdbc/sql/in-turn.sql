-- in-turn.sql: who of all who wait for these names should ask now: of each name one, or nobody.
--
-- The first in the queue that is live, if what is held leaves room; the same as poll.sql says of one
-- owner, at a cost that does not grow with the queue. The head is found in a derived table of its own,
-- so that it is looked up once a name: as a condition on the queue, it would be for each who waits.

SELECT w.owner
FROM (
  SELECT l.owner, l.ends, l.term, l.units, l.name,
    (SELECT a.owner FROM {claims} AS a
     WHERE a.name = l.name AND a.held = 0
       AND a.ends > {now} AND a.ends <= {now} + a.term + {slack}
     ORDER BY a.place LIMIT 1) AS head
  FROM {locks} AS l
  WHERE l.name IN (:names...) AND l.others > 0
) AS t
JOIN {claims} AS w ON w.owner = t.head
WHERE w.capacity >= w.units
  + CASE WHEN t.owner IS NOT NULL AND t.ends > {now} AND t.ends <= {now} + t.term + {slack}
         THEN t.units ELSE 0 END
  + (SELECT COALESCE(SUM(h.units), 0) FROM {claims} AS h
     WHERE h.name = t.name AND h.held = 1
       AND h.ends > {now} AND h.ends <= {now} + h.term + {slack})
