-- transaction-wait.sql (MySQL): how many seconds the session's statements wait for a row.

SET SESSION innodb_lock_wait_timeout = ?
