-- renew-claims.sql (MariaDB): as renew.sql, for holders that are not in their names' rows.

{waits_for}UPDATE {claims} SET ends = GREATEST(ends, {now} + :term), term = GREATEST(term, :term)
WHERE owner IN (:owners...) AND number IN (:numbers...) AND held = 1 AND ends > {now}
