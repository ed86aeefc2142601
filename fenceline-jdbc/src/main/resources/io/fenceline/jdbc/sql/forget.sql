-- forget.sql: deletes the rows of names that have been free for long, if they still are.
--
-- Their last numbers go with them. A new row starts from the clock, so the clock has to be past them.

DELETE FROM {locks}
WHERE name IN (:names...)
  AND others = 0 AND ends < {now} - :age AND last_number < {clock_number}
