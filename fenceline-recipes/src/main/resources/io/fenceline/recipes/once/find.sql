-- find.sql: the record of a key. Parameters: name.
SELECT state, fingerprint, token, attempts, since, worker, result FROM {table} WHERE name = ?
