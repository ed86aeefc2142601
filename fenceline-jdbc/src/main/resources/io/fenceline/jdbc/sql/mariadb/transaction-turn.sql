-- transaction-turn.sql (MariaDB, MySQL): how often the lock was taken, as the transaction's snapshot has it; the
-- first read of a transaction takes the snapshot.

SELECT turn FROM {transaction_locks} WHERE name = ?
