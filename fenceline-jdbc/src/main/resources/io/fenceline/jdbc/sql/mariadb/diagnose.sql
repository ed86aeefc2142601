-- diagnose.sql (MariaDB): settings that matter for locks.

SELECT 'version' AS item, VERSION() AS found
UNION ALL SELECT 'innodb_flush_log_at_trx_commit', @@innodb_flush_log_at_trx_commit
