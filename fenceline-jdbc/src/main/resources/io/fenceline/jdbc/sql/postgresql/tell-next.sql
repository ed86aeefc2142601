-- tell-next.sql (PostgreSQL): tells the first who waits for a name that it may be its turn.
--
-- Returns its public id. Who is told in vain asks in vain.

SELECT {public_id} AS head, CAST(pg_notify({head_channel}, {public_id}) AS text) AS told
FROM (
  SELECT w.owner, w.client FROM {claims} AS w
  WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
  ORDER BY w.place LIMIT 1
) AS head
