-- sweep-mariadb.sql: as sweep.sql, with the same parameters.
DELETE FROM {table}
WHERE kind = ? AND finished_at < {now} - ?
ORDER BY finished_at LIMIT ?
