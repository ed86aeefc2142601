-- forget.sql: deletes the rows of names that have been free for long, if they still are.
--
-- Their last numbers go with them. A new row starts above the largest that was forgotten.

{waits_for}DELETE FROM {locks}
WHERE name IN (:names...)
  AND others = 0 AND ends < {now} - :age AND last_number <= :forgotten {waits}
