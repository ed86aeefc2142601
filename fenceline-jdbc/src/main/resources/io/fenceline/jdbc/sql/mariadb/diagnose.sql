-- diagnose.sql (MariaDB, MySQL): settings that matter for locks.
--
-- With a binary log, a transaction that the log lacks after a crash is rolled back in the tables, too.

SELECT 'version' AS item, VERSION() AS found
UNION ALL SELECT 'innodb_flush_log_at_trx_commit', CAST(@@innodb_flush_log_at_trx_commit AS CHAR)
UNION ALL SELECT 'innodb_doublewrite', CAST(@@innodb_doublewrite AS CHAR)
UNION ALL SELECT 'sync_binlog',
  IF(@@log_bin, CAST(@@sync_binlog AS CHAR), 'no binary log')
UNION ALL SELECT 'engine', COALESCE(MAX(ENGINE), 'InnoDB')
  FROM information_schema.TABLES
  WHERE TABLE_SCHEMA = COALESCE(NULLIF('{schema}', ''), DATABASE())
    AND TABLE_NAME IN ('{prefix}_locks', '{prefix}_claims', '{prefix}_format')
    AND ENGINE <> 'InnoDB'
{all_rows}
