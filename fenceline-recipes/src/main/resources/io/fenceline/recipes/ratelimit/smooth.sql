-- smooth.sql (PostgreSQL, SQLite): takes permits that come one by one, with a burst (GCRA).
--
-- Parameters: name, period, interval, k, burst, longest wait. Returns as strict.sql; see smooth.lua for
-- the rule.
INSERT INTO {table} AS r (name, kind, period_us, seen_us, shift_us, due_us, marks, expires_us)
VALUES (?, 2, ?, 0, 0, 0, '[]', {now} + 60000000)
ON CONFLICT (name) DO UPDATE SET
  (kind, period_us, seen_us, shift_us, due_us, taken, wait_us, at_us, expires_us) = (
    WITH
      asked AS (
        SELECT CAST(? AS bigint) AS spacing, CAST(? AS bigint) AS k, CAST(? AS bigint) AS burst,
          CAST(? AS bigint) AS longest, {now} AS clock),
      now AS (
        SELECT asked.*, {greatest}(r.shift_us, r.seen_us - clock) AS shift FROM asked),
      earliest AS (
        SELECT now.*, clock + shift AS time,
          {greatest}(clock + shift, r.due_us + (k - burst) * spacing) AS at
        FROM now),
      answer AS (
        SELECT earliest.*, {greatest}(at, r.due_us) + k * spacing AS due,
          CASE WHEN at - time <= longest THEN 1 ELSE 0 END AS taken
        FROM earliest)
    SELECT excluded.kind, excluded.period_us,
      CASE WHEN taken = 1 THEN time ELSE r.seen_us END,
      shift,
      CASE WHEN taken = 1 THEN due ELSE r.due_us END,
      taken, at - time, at - shift,
      CASE WHEN taken = 1 THEN due - shift ELSE r.expires_us END
    FROM answer)
WHERE (r.kind = excluded.kind AND r.period_us = excluded.period_us) OR r.expires_us < {now}
RETURNING taken, wait_us, at_us
