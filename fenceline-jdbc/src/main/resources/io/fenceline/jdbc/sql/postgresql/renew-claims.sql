-- renew-claims.sql (PostgreSQL): as renew.sql, for holders that are not in their names' rows.

UPDATE {claims} SET ends = GREATEST(ends, {now} + :term), term = GREATEST(term, :term)
WHERE owner IN (:owners...) AND number IN (:numbers...) AND held = 1 AND ends > {now}
  AND (SELECT {durable}) {waits}
RETURNING owner
