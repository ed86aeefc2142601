-- claim-uncontended.sql (MariaDB, MySQL): grants a mutex without a delay on a name that has a row, no holder
-- and nobody who waits.
--
-- The grant number is the key that the statement generates; no key if it is not so, and claim.sql has to
-- be asked. The condition is seen on the row as it is once its lock was got. Right whether an
-- assignment sees the row as it was, or as those before have left it: the number is computed first, from
-- what nothing before it has changed.

UPDATE {locks} SET
  number      = LAST_INSERT_ID(GREATEST(last_number + 1, :seen + 1, {clock_number})),
  last_number = GREATEST(last_number + 1, :seen + 1, {clock_number}),
  owner = :owner, units = {whole}, capacity = {whole}, ends = {now} + :term, term = :term,
  delay = 0, since = {now}, client = :client
WHERE name = :name AND owner IS NULL AND others = 0 AND last_number < {max_number}
