-- stale-names.sql: names that have been free for long, to be forgotten.

SELECT name FROM {locks}
WHERE others = 0 AND ends < {now} - :age AND last_number < {clock_number}
LIMIT 500
