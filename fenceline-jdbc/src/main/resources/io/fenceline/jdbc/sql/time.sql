-- time.sql: the time.

SELECT {now}
