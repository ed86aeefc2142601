-- renewed.sql (MariaDB): which grants were still there, where renew.sql did not find all of them.

SELECT owner FROM {locks}
WHERE name IN (:names...) AND owner IN (:owners...) AND ends > {now}
