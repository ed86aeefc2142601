-- diagnose.sql (PostgreSQL): settings that matter for locks.

SELECT 'version' AS item, current_setting('server_version') AS found
UNION ALL SELECT 'fsync', current_setting('fsync')
UNION ALL SELECT 'full_page_writes', current_setting('full_page_writes')
UNION ALL SELECT 'persistence',
  CASE WHEN EXISTS (
    SELECT 1 FROM pg_catalog.pg_class
    WHERE oid IN (to_regclass('{locks}'), to_regclass('{claims}'), to_regclass('{format}'))
      AND relpersistence <> 'p')
  THEN 'unlogged' ELSE 'logged' END
UNION ALL SELECT 'synchronous_standby_names', current_setting('synchronous_standby_names')
