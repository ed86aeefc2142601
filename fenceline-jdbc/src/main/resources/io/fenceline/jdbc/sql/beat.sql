-- beat.sql: those who wait here are still alive.

UPDATE {claims} SET ends = {now} + term
WHERE owner IN (:owners...) AND held = 0
