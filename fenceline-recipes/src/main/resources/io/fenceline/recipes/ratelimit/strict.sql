-- strict.sql (PostgreSQL, SQLite): takes permits of a limit that holds in every window, now or later.
--
-- Parameters: name, period, n, k, grain, longest wait (0 for now or never, -1 to take nothing).
--
-- Returns taken (1, 0, or null for a name that was not there: ask again), wait, at. Returns no row if
-- the name is in use for another limit. See strict.lua for the rule; here it is one statement, too, and
-- reads the clock when it has the row.
INSERT INTO {table} AS r (name, kind, period_us, seen_us, shift_us, due_us, marks, expires_us)
VALUES (?, 1, ?, 0, 0, 0, '[]', {now} + 60000000)
ON CONFLICT (name) DO UPDATE SET
  (kind, period_us, seen_us, shift_us, marks, taken, wait_us, at_us, expires_us) = (
    WITH
      asked AS (
        SELECT CAST(? AS bigint) AS n, CAST(? AS bigint) AS k, CAST(? AS bigint) AS grain,
          CAST(? AS bigint) AS longest, {now} AS clock),
      now AS (
        SELECT asked.*, {greatest}(r.shift_us, r.seen_us - clock) AS shift FROM asked),
      marks AS ({marks}),
      sums AS (
        SELECT mark, sum(permits) OVER (ORDER BY mark DESC) AS since FROM marks),
      earliest AS (
        SELECT now.*, clock + shift AS time,
          {greatest}(
            clock + shift,
            coalesce((SELECT max(mark) FROM marks) - grain + 1, 0),
            coalesce((SELECT max(mark) FROM sums WHERE since > n - k) + excluded.period_us, 0)) AS at
        FROM now),
      answer AS (
        SELECT earliest.*, (at / grain + 1) * grain - 1 AS mark,
          CASE WHEN at - time <= longest THEN 1 ELSE 0 END AS taken
        FROM earliest)
    SELECT excluded.kind, excluded.period_us,
      CASE WHEN taken = 1 THEN time ELSE r.seen_us END,
      shift,
      CASE WHEN taken = 1 THEN (
        SELECT {list} FROM (
          SELECT mark, sum(permits) AS permits FROM (
            SELECT marks.mark, marks.permits FROM marks
            WHERE marks.mark + excluded.period_us > answer.time
            UNION ALL SELECT answer.mark, answer.k) AS kept
          GROUP BY mark ORDER BY mark) AS merged)
      ELSE r.marks END,
      taken, at - time, at - shift,
      CASE WHEN taken = 1 THEN mark + excluded.period_us - shift ELSE r.expires_us END
    FROM answer)
WHERE (r.kind = excluded.kind AND r.period_us = excluded.period_us) OR r.expires_us < {now}
RETURNING taken, wait_us, at_us
