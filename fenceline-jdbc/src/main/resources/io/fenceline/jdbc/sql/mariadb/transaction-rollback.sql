-- transaction-rollback.sql (MariaDB): whether a statement that waits too long ends its whole transaction.

SELECT @@innodb_rollback_on_timeout
