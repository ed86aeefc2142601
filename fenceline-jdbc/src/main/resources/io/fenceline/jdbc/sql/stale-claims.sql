-- stale-claims.sql: names with claims that ended long ago, which nobody has asked for since.

SELECT DISTINCT name FROM {claims} WHERE name > :after AND ends < {now} - :age ORDER BY name LIMIT 100
