-- poll.sql: which of those who wait here should ask now.
--
-- Returns each owner that is still in the queue, and whether it looks free: nobody live is before it
-- in the queue, and what is held leaves room.

SELECT w.owner,
  CASE WHEN NOT EXISTS (
         SELECT 1 FROM {claims} AS a
         WHERE a.name = w.name AND a.held = 0 AND a.place < w.place
           AND a.ends > {now} AND a.ends <= {now} + a.term + {slack})
       AND {fits}
       THEN 1 ELSE 0 END AS ready
FROM {claims} AS w JOIN {locks} AS l ON l.name = w.name
WHERE w.owner IN (:owners...) AND w.held = 0
{all_rows}
