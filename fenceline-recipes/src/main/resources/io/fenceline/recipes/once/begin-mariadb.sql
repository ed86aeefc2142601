-- begin-mariadb.sql: as begin.sql, for a database whose upsert has no condition of its own.
--
-- Parameters: as begin.sql, the last one once for each column that changes.
--
-- Returns the record as it is afterwards, whether or not it was made or taken over. The token changes
-- last: each assignment sees those before it.
INSERT INTO {table} (name, kind, state, fingerprint, token, attempts, since, worker)
VALUES (?, ?, 1, ?, ?, 1, {now}, ?)
ON DUPLICATE KEY UPDATE
  attempts = IF(? = 1 AND state = 1 AND token < VALUE(token) AND fingerprint = VALUE(fingerprint),
    attempts + 1, attempts),
  since = IF(? = 1 AND state = 1 AND token < VALUE(token) AND fingerprint = VALUE(fingerprint),
    VALUE(since), since),
  worker = IF(? = 1 AND state = 1 AND token < VALUE(token) AND fingerprint = VALUE(fingerprint),
    VALUE(worker), worker),
  token = IF(? = 1 AND state = 1 AND token < VALUE(token) AND fingerprint = VALUE(fingerprint),
    VALUE(token), token)
RETURNING state, fingerprint, token, attempts, since, worker, result
