-- check-writable.sql: fails where we may not write; changes nothing.

UPDATE {locks} SET last_number = last_number WHERE 1 = 0
