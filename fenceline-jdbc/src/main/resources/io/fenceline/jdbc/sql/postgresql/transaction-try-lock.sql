-- transaction-try-lock.sql (PostgreSQL): takes it if it is free; returns whether it was.

SELECT CASE WHEN current_setting('transaction_isolation') LIKE 'read %'
            THEN CAST(pg_try_advisory_xact_lock(?) AS text) ELSE 'snapshot' END
