-- renew.sql (SQLite): starts the leases of many holders again that are in their names' rows.
--
-- Returns the owners whose grants were still there.

UPDATE {locks} SET ends = {now} + :term, term = :term
WHERE name IN (:names...) AND owner IN (:owners...) AND ends > {now}
RETURNING owner
