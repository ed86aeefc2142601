-- claim-uncontended.sql (SQLite): grants a mutex without a delay on a name that has a row, no holder and nobody
-- who waits.
--
-- Returns the grant number; no row if it is not so, and claim.sql has to be asked.

UPDATE {locks} SET
  last_number = max(last_number + 1, :seen + 1, (:now - {epoch}) * 2 / 125),
  number      = max(last_number + 1, :seen + 1, (:now - {epoch}) * 2 / 125),
  owner = :owner, units = {whole}, capacity = {whole}, ends = {now} + :term, term = :term,
  delay = 0, since = {now}, client = :client
WHERE name = :name AND owner IS NULL AND others = 0 AND last_number < {max_number}
RETURNING number
