-- renewed-claims.sql (MariaDB): as renewed.sql, for holders that are not in their names' rows.

SELECT owner FROM {claims}
WHERE owner IN (:owners...) AND held = 1 AND ends > {now}
