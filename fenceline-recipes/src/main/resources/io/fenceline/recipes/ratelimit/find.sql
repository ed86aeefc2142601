-- find.sql: what a name is in use for. Parameters: name.
SELECT kind, period_us FROM {table} WHERE name = ?
