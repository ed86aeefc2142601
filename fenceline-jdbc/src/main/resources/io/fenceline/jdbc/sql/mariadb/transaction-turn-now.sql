-- transaction-turn-now.sql (MariaDB, MySQL): how often the lock was taken, as it is.

SELECT turn FROM {transaction_locks} WHERE name = ? FOR UPDATE
