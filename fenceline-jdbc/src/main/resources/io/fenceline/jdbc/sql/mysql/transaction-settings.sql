-- transaction-settings.sql (MySQL): whether a statement that waits too long ends its whole transaction,
-- how long it waits, and whether a search for a row that is not there locks the gap.

SELECT @@innodb_rollback_on_timeout, @@innodb_lock_wait_timeout,
  @@transaction_isolation IN ('REPEATABLE-READ', 'SERIALIZABLE')
