-- transaction-count.sql (MariaDB): one more has taken the lock.

UPDATE {transaction_locks} SET turn = turn + 1 WHERE name = ?
