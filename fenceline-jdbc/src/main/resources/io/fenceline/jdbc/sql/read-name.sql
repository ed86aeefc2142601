-- read-name.sql: the row of a name; locks it where the whole database is not locked anyway.
--
-- Every change of a name, but for the ends of its claims, is made under this lock. Where the server
-- can, it ends a transaction whose client has stopped, so that the lock is not kept for ever.

SELECT last_number, tail, others, owner, {row_number} AS number, units, capacity, ends, term, delay,
  {row_since} AS since, client
FROM {locks} AS l
WHERE name = :name {unless_stopped}
{for_update}
