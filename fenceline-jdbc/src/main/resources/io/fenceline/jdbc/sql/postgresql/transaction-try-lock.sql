-- transaction-try-lock.sql (PostgreSQL): takes it if it is free; returns whether it was.

SELECT pg_try_advisory_xact_lock(?)
