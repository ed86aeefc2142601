-- renew.sql (MariaDB): starts the leases of many holders again that are in their names' rows.

UPDATE {locks} SET ends = {now} + :term, term = :term
WHERE name IN (:names...) AND owner IN (:owners...) AND ends > {now}
