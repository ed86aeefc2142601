-- read-name.sql: the row of a name; locks it where the whole database is not locked anyway.
--
-- Every change of a name, but for the ends of its claims, is made under this lock.

SELECT last_number, tail, others, owner, number, units, capacity, ends, term, delay, since, client
FROM {locks}
WHERE name = :name
{for_update}
