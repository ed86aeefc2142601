-- sweep.sql: removes finished records that are older than the retention, some at a time.
--
-- Parameters: kind, retention in milliseconds, how many at most.
DELETE FROM {table} WHERE name IN (
  SELECT name FROM {table}
  WHERE kind = ? AND finished_at < {now} - ?
  ORDER BY finished_at LIMIT ? {skip}
)
