-- create-name.sql: an empty row for a name that has none, to be locked. Its numbers go on from what was
-- forgotten. The client is not empty: some databases can be told to take that for NULL.

INSERT INTO {locks}
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES (:name, {after_forgotten}, 0, 0, NULL, 0, 0, 0, {now}, 0, 0, 0, '-')
{or_nothing}
