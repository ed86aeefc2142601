-- fence-prune.sql: forgets resources that were not written for long.

DELETE FROM {fences} WHERE written_at < {seconds} - :unused
