-- transaction-lock.sql (PostgreSQL): waits for a lock that ends with the transaction.

SELECT pg_advisory_xact_lock(?)
