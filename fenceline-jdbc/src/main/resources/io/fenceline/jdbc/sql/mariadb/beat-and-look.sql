-- beat-and-look.sql (MariaDB): beat.sql and look-for-turns.sql in one request, for those who wait quietly.
--
-- Returns those who are still in a queue, and what look-for-turns.sql returns.

BEGIN NOT ATOMIC
  UPDATE {claims} SET ends = {now} + term
  WHERE owner IN (:owners...) AND held = 0;
  SELECT 1 AS alive, owner, {now} AS now, NULL AS row_ends, NULL AS head_ends, NULL AS claim_ends
  FROM {claims}
  WHERE owner IN (:owners...) AND held = 0
  UNION ALL
  SELECT 0, t.owner, t.now, t.row_ends, t.head_ends, t.claim_ends
  FROM (
  {look_for_turns}
  ) AS t
  {all_rows};
END
