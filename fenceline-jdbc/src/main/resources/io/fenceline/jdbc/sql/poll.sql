-- poll.sql: which of those who wait here should ask now.
--
-- Returns each owner that is still in the queue, and whether it looks free: nobody live is before it
-- in the queue, and what is held leaves room. An end too far ahead was set by a clock that has been
-- set back since: asking shortens it, so it counts as free.

SELECT w.owner,
  CASE WHEN NOT EXISTS (
         SELECT 1 FROM {claims} AS a
         WHERE a.name = w.name AND a.held = 0 AND a.place < w.place
           AND a.ends > {now} AND a.ends <= {now} + a.term + {slack})
       AND w.capacity >= w.units
         + CASE WHEN l.owner IS NOT NULL AND l.ends > {now} AND l.ends <= {now} + l.term + {slack}
                THEN l.units ELSE 0 END
         + (SELECT COALESCE(SUM(h.units), 0) FROM {claims} AS h
            WHERE h.name = w.name AND h.held = 1
              AND h.ends > {now} AND h.ends <= {now} + h.term + {slack})
       THEN 1 ELSE 0 END AS ready
FROM {claims} AS w JOIN {locks} AS l ON l.name = w.name
WHERE w.owner IN (:owners...) AND w.held = 0
