-- transaction-count.sql (MariaDB, MySQL): one more has taken the lock.

UPDATE {transaction_locks} SET turn = turn + 1 WHERE name = ?
