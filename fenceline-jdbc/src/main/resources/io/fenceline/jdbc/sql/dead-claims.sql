-- dead-claims.sql: claims of a name that are over, the first who wait before all others.

SELECT owner FROM {claims} WHERE name = :name AND ends <= {now} ORDER BY held, place LIMIT {many}
