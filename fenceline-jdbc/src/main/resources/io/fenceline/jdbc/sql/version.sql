-- version.sql: which format the tables have.

SELECT version FROM {format}
