-- forgotten.sql: up to which number rows may be deleted: a new row starts above it.

SELECT forgotten FROM {format}
