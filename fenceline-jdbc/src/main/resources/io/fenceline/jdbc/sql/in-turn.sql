-- in-turn.sql: who of all who wait for these names should ask now: of each name one, or nobody.
--
-- The first in the queue that is live, if what is held leaves room; the same as poll.sql says of one
-- owner, at a cost that does not grow with the queue. The head is found in a derived table of its own,
-- so that it is looked up once a name: as a condition on the queue, it would be for each who waits.

SELECT w.owner
FROM (
  SELECT n.owner, n.ends, n.term, n.units, n.name,
    (SELECT a.owner FROM {claims} AS a
     WHERE a.name = n.name AND a.held = 0
       AND a.ends > {now} AND a.ends <= {now} + a.term + {slack}
     ORDER BY a.place LIMIT 1) AS head
  FROM {locks} AS n
  WHERE n.name IN (:names...) AND n.others > 0
) AS l
JOIN {claims} AS w ON w.owner = l.head
WHERE {fits}
{all_rows}
