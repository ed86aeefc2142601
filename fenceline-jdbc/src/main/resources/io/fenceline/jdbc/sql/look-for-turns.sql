-- look-for-turns.sql: a hint, which waiter of each name should ask now, and when the next lease ends; LockQueue decides.
--
-- Returns, for each name with others, the first live waiter in the queue if what is held leaves room for it, or
-- else null: what poll.sql returns for one owner, at a cost that does not grow with the queue. The head is found
-- in a derived table, so that it is looked up once per name: a condition on the queue would look it up for each
-- waiter. Also returns when the holders and the head end, since nobody announces that.

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
