-- stale-names.sql: names that have been free for long, to be forgotten; after a name, in their order, so
-- that a sweep reads each row once.

SELECT name FROM {locks}
WHERE name > :after AND others = 0 AND ends < {now} - :age AND last_number <= :forgotten
ORDER BY name
LIMIT 500
