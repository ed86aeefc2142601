-- claim-uncontended.sql (PostgreSQL): grants a mutex without a delay on a name that has a row, no holder and
-- nobody who waits.
--
-- Returns the grant number; no row if it is not so, and claim.sql has to be asked. The condition is
-- seen on the row as it is once its lock was got. The commit is on disk before it is answered,
-- whatever the database's default. What the row says elsewhere is not computed twice: number and since
-- are 0.

UPDATE {locks} SET
  last_number = GREATEST(last_number + 1, :seen + 1, {arrived_number}), number = 0,
  owner = :owner, units = {whole}, capacity = {whole}, ends = {arrived} + :term, term = :term,
  delay = 0, since = 0, client = :client
WHERE name = :name AND owner IS NULL AND others = 0 AND last_number < {max_number} AND {durable}
RETURNING last_number
