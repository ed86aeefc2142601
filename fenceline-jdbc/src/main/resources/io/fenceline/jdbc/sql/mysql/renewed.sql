-- renewed.sql (MySQL): which grants were still there, where renew.sql did not find all of them.
-- A locking read: a plain one may be sent to a replica that lags.

SELECT owner FROM {locks}
WHERE name IN (:names...) AND owner IN (:owners...) AND number IN (:numbers...) AND ends > {now}
{all_rows}
FOR UPDATE {waits}
