-- schema.sql: the rate limits.
--
-- name        in bytes: no collation makes two names one. The empty name is the row that holds the
--             version of the format as its period.
-- kind        1 strict, 2 smooth
-- period_us   all times are in microseconds, since 1970 by the database's clock
-- seen_us     when permits were last taken, by the clock plus the shift
-- shift_us    how far the clock was set back in all, so that nothing is left in the far future
-- due_us      smooth: when the next permit is due if they are taken evenly
-- marks       strict: [[mark, permits], ...], which says that so many permits were taken no later than
--             at the mark; marks rise
-- taken, wait_us, at_us   the answer to the last request
-- expires_us  when nothing of it counts any more
CREATE TABLE IF NOT EXISTS {table} (
  name {bytes} NOT NULL PRIMARY KEY,
  kind integer NOT NULL,
  period_us bigint NOT NULL,
  seen_us bigint NOT NULL,
  shift_us bigint NOT NULL,
  due_us bigint NOT NULL,
  marks {text} NOT NULL,
  taken integer,
  wait_us bigint,
  at_us bigint,
  expires_us bigint NOT NULL
){engine};
CREATE INDEX IF NOT EXISTS {index} ON {table} (expires_us);
INSERT INTO {table} (name, kind, period_us, seen_us, shift_us, due_us, marks, expires_us)
VALUES ({no_name}, 0, {version}, 0, 0, 0, '[]', {never}) {or_nothing};
