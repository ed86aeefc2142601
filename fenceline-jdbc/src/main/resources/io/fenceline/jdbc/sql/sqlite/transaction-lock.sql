-- transaction-lock.sql (SQLite): makes the transaction the writer of the file, until it ends.

INSERT INTO {transaction_locks} (name) VALUES (?)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
