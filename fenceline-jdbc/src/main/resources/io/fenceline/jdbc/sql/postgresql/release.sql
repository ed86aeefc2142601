-- release.sql (PostgreSQL): gives a name back whose holder is in its row; the numbers stay.
--
-- Returns how many others there are, the public id of the first who waits, and whether that can be
-- relied on; no row if this owner is not there, or its time is over. Tells the first who waits, on its
-- process' own channel. The commit need not be on disk yet: losing it costs waiting, not safety.
--
-- Those who wait are read as they were when the statement began. If it then waited for the row, someone
-- may have come or gone since: the row as it was then differs from the one that was freed, and
-- tell-next.sql has to be asked.

WITH freed AS (
  UPDATE {locks} SET owner = NULL, ends = {arrived}
  WHERE name = :name AND owner = :owner AND ends > {arrived} AND {lazy}
  RETURNING others, tail
), head AS (
  SELECT w.owner, w.client FROM {claims} AS w
  WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
  ORDER BY w.place LIMIT 1
)
SELECT freed.others, {public_id} AS head,
  CASE WHEN seen.others = freed.others AND seen.tail = freed.tail THEN 1 ELSE 0 END AS fresh,
  CASE WHEN head.owner IS NOT NULL
       THEN CAST(pg_notify({head_channel}, {public_id}) AS text) END AS told
FROM freed
  JOIN {locks} AS seen ON seen.name = :name
  LEFT JOIN head ON freed.others > 0
