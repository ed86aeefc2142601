-- transaction-try-lock.sql (MariaDB): as transaction-lock.sql, without waiting.

SET STATEMENT innodb_lock_wait_timeout = 0 FOR
INSERT INTO {transaction_locks} (name) VALUES (?)
ON DUPLICATE KEY UPDATE name = name
