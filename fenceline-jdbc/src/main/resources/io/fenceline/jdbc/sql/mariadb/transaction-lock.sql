-- transaction-lock.sql (MariaDB, MySQL): locks the row of a name until the transaction ends.

INSERT INTO {transaction_locks} (name) VALUES (?)
ON DUPLICATE KEY UPDATE name = name
