-- stale-claims.sql: names with claims that ended long ago, which nobody has asked for since.

SELECT DISTINCT name FROM {claims} WHERE ends < {now} - :age LIMIT 100
