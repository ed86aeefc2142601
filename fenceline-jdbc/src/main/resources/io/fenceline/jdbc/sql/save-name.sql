-- save-name.sql: writes the row of a name, whose lock is held.
--
-- A grant has to be on disk before it is answered, anything else need not.

UPDATE {locks} SET
  last_number = :last_number, tail = :tail, others = :others, owner = :owner, number = :number,
  units = :units, capacity = :capacity, ends = :ends, term = :term, delay = :delay,
  since = :since, client = :client
WHERE name = :name AND {durable_if_granted}
