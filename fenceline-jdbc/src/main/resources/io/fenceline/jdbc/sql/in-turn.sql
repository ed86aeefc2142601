-- in-turn.sql: who of all who wait for these names should ask now, and when time will bring a change.
--
-- Of each name with others, the first in the queue that is live, if what is held leaves room, or null; the same as
-- poll.sql says of one owner, at a cost that does not grow with the queue. The head is found in a derived
-- table of its own, so that it is looked up once a name: as a condition on the queue, it would be for each
-- who waits. And the ends of those who hold and of the head: nobody tells when they are over.

SELECT CASE WHEN w.owner IS NOT NULL AND {fits} THEN w.owner END AS owner, {now} AS now,
  CASE WHEN l.owner IS NOT NULL AND l.ends > {now} THEN l.ends END AS row_ends,
  w.ends AS head_ends,
  (SELECT MIN(h.ends) FROM {claims} AS h
   WHERE h.name = l.name AND h.held = 1 AND h.ends > {now}) AS claim_ends
FROM (
  SELECT n.owner, n.ends, n.term, n.units, n.name,
    (SELECT a.owner FROM {claims} AS a
     WHERE a.name = n.name AND a.held = 0
       AND a.ends > {now} AND a.ends <= {now} + a.term + {slack}
     ORDER BY a.place LIMIT 1) AS head
  FROM {locks} AS n
  WHERE n.name IN (:names...) AND n.others > 0
) AS l
LEFT JOIN {claims} AS w ON w.owner = l.head
{all_rows}
