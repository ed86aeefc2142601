-- renew.sql (PostgreSQL): starts the leases of many holders again that are in their names' rows.
--
-- Returns the owners whose grants were still there. On disk before it is answered, as a claim is.

UPDATE {locks} SET ends = {now} + :term, term = :term
WHERE name IN (:names...) AND owner IN (:owners...) AND ends > {now}
  AND (SELECT {durable})
RETURNING owner
