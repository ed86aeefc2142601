-- diagnose.sql (PostgreSQL): settings that matter for locks.

SELECT 'version' AS item, current_setting('server_version') AS found
UNION ALL SELECT 'fsync', current_setting('fsync')
UNION ALL SELECT 'full_page_writes', current_setting('full_page_writes')
UNION ALL SELECT 'synchronous_standby_names', current_setting('synchronous_standby_names')
