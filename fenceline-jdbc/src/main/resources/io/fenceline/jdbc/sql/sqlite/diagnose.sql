-- diagnose.sql (SQLite): settings that matter for locks.

SELECT 'version' AS item, sqlite_version() AS found
UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
UNION ALL SELECT 'synchronous', CAST(synchronous AS TEXT) FROM pragma_synchronous
