-- release.sql (PostgreSQL): gives a name back whose holder is in its row; the numbers stay.
--
-- Returns how many others there are; no row if this owner is not there, or its time is over. Tells
-- the first who waits. The commit need not be on disk yet: losing it costs waiting, not safety.

WITH freed AS (
  UPDATE {locks} SET owner = NULL, ends = {arrived}
  WHERE name = :name AND owner = :owner AND ends > {arrived} AND {lazy}
  RETURNING others
)
SELECT freed.others,
  CASE WHEN freed.others > 0 THEN (
    SELECT CAST(pg_notify('{channel}', {public_id}) AS text)
    FROM (
      SELECT w.owner FROM {claims} AS w
      WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
      ORDER BY w.place LIMIT 1
    ) AS head
  ) END
FROM freed
