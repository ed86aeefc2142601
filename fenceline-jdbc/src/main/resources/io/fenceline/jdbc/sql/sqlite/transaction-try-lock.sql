-- transaction-try-lock.sql (SQLite): the same; how long it waits is the connection's busy_timeout.

INSERT INTO {transaction_locks} (name) VALUES (?)
ON CONFLICT (name) DO UPDATE SET name = excluded.name
