-- end-claims.sql: deletes claims that are over, if they still are.

DELETE FROM {claims} WHERE owner IN (:owners...) AND ends <= {now}
