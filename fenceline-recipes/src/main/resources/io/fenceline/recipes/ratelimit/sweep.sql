-- sweep.sql (PostgreSQL, SQLite): removes limits of which nothing counts any more, some at a time.
--
-- Parameters: how many at most.
DELETE FROM {table} WHERE name IN (
  SELECT name FROM {table} WHERE expires_us < {now} ORDER BY expires_us LIMIT ? {skip}
) AND expires_us < {now}
