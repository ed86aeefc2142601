-- renew-claims.sql (MySQL): as renew.sql, for holders that are not in their names' rows.

UPDATE {claims} AS c JOIN (
  SELECT owner FROM {claims}
  WHERE owner IN (:owners...) AND number IN (:numbers...) AND held = 1 AND ends > {now}
  {all_rows}
  FOR UPDATE {waits}
) AS live ON live.owner = c.owner
SET c.ends = GREATEST(c.ends, {now} + :term), c.term = GREATEST(c.term, :term)
