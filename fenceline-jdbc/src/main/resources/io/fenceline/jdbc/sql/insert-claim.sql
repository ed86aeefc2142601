-- insert-claim.sql: one more who waits, or holds beside others.

INSERT INTO {claims}
  (owner, name, held, place, number, units, capacity, ends, term, delay, since, client)
VALUES
  (:owner, :name, :held, :place, :number, :units, :capacity, :ends, :term, :delay, :since, :client)
