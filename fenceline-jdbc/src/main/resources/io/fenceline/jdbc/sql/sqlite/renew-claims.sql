-- renew-claims.sql (SQLite): as renew.sql, for holders that are not in their names' rows.

UPDATE {claims} SET ends = max(ends, {now} + :term), term = max(term, :term)
WHERE owner IN (:owners...) AND number IN (:numbers...) AND held = 1 AND ends > {now}
RETURNING owner
