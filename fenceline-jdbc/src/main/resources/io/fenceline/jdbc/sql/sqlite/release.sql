-- release.sql (SQLite): gives a name back whose holder is in its row; the numbers stay.
--
-- Returns how many others there are, and the first who waits, who has to be told; no row if this owner
-- is not there, or its time is over.

UPDATE {locks} SET owner = NULL, ends = {now}
WHERE name = :name AND owner = :owner AND ends > {now}
RETURNING others,
  CASE WHEN others > 0 THEN (
    SELECT w.owner FROM {claims} AS w
    WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
    ORDER BY w.place LIMIT 1) END AS head,
  CASE WHEN others > 0 THEN (
    SELECT w.client FROM {claims} AS w
    WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
    ORDER BY w.place LIMIT 1) END AS whose
