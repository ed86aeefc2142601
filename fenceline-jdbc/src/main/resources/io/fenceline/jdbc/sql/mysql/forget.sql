-- forget.sql (MySQL): deletes the rows of names that have been free for long, if they still are.
--
-- Their last numbers go with them. A new row starts above the largest that was forgotten. Rows that
-- are locked are passed over: they are in use, or stay until the next sweep.

DELETE l FROM {locks} AS l JOIN (
  SELECT name FROM {locks}
  WHERE name IN (:names...)
    AND others = 0 AND ends < {now} - :age AND last_number <= :forgotten
  {all_rows}
  FOR UPDATE SKIP LOCKED
) AS stale ON stale.name = l.name
