-- fence-prune.sql: forgets resources that were not written for long. The resource is the key, without which
-- MariaDB with sql_safe_updates deletes nothing.

DELETE FROM {fences} WHERE resource > :before AND written_at < {seconds} - :unused
