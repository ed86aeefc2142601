-- transaction-try-lock.sql (MySQL): locks the row of a name until the transaction ends, if there is one and
-- nobody else has locked it.

SELECT turn FROM {transaction_locks} WHERE name = ? FOR UPDATE NOWAIT
