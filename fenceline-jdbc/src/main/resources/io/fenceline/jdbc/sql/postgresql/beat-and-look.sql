-- beat-and-look.sql (PostgreSQL): beat.sql and look-for-turns.sql in one statement, for those who wait quietly.
--
-- Returns those who are still in a queue, and what look-for-turns.sql returns.

WITH alive AS (
  UPDATE {claims} SET ends = {now} + term
  WHERE owner IN (:owners...) AND held = 0
  RETURNING owner
)
SELECT 1 AS alive, owner, {now} AS now,
  CAST(NULL AS bigint) AS row_ends, CAST(NULL AS bigint) AS head_ends,
  CAST(NULL AS bigint) AS claim_ends
FROM alive
UNION ALL
SELECT 0, t.owner, t.now, t.row_ends, t.head_ends, t.claim_ends
FROM (
{look_for_turns}
) AS t
