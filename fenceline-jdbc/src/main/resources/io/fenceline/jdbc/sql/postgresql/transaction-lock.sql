-- transaction-lock.sql (PostgreSQL): waits for a lock that ends with the transaction.
--
-- Above READ COMMITTED the statement that waits has taken the transaction's snapshot already, and what
-- the last holder wrote is not in it: such a transaction does not wait, and is refused.

SELECT CASE WHEN current_setting('transaction_isolation') LIKE 'read %'
            THEN CAST(pg_advisory_xact_lock(?) AS text) ELSE 'snapshot' END
