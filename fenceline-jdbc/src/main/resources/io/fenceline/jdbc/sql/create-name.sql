-- create-name.sql: an empty row for a name that has none, to be locked.

INSERT INTO {locks}
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES (:name, 0, 0, 0, NULL, 0, 0, 0, {now}, 0, 0, 0, '')
{or_nothing}
