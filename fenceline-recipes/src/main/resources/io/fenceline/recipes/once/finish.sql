-- finish.sql: stores the result of a worker that was not overtaken.
--
-- Parameters: state, token that it has afterwards, result, name, token that has begun. Changes one
-- row, or none if another worker has taken the key over, or it is gone.
UPDATE {table} SET state = ?, token = ?, result = ?, finished_at = {now}
WHERE name = ? AND token = ? AND state = 1
