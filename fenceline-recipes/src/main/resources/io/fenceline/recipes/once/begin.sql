-- begin.sql: makes the record of a key, or takes it over from a worker that vanished.
--
-- Parameters: name, kind, fingerprint, token, worker, rerun (1: take over from a smaller token).
--
-- Returns a row if it was made or taken over; none if something is in the way. Whoever has changed
-- the row and has not committed yet is waited for: the result of a worker counts from its commit.
INSERT INTO {table} (name, kind, state, fingerprint, token, attempts, since, worker)
VALUES (?, ?, 1, ?, ?, 1, {now}, ?)
ON CONFLICT (name) DO UPDATE SET
  token = excluded.token,
  attempts = {table}.attempts + 1,
  since = excluded.since,
  worker = excluded.worker
WHERE {table}.state = 1 AND {table}.token < excluded.token
  AND {table}.fingerprint = excluded.fingerprint AND ? = 1
RETURNING state, fingerprint, token, attempts, since, worker, result
