-- renewed-claims.sql (MySQL): as renewed.sql, for holders that are not in their names' rows.

SELECT owner FROM {claims}
WHERE owner IN (:owners...) AND number IN (:numbers...) AND held = 1 AND ends > {now}
{all_rows}
FOR UPDATE {waits}
