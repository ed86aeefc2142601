-- clear.sql: removes the record of a worker that has had no effect. Parameters: name, token.
DELETE FROM {table} WHERE name = ? AND token = ? AND state = 1
