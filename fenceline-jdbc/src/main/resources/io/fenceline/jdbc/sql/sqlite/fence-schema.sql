-- fence-schema.sql (SQLite): what JdbcFence remembers.

CREATE TABLE IF NOT EXISTS {fences} (
  resource        BLOB    NOT NULL PRIMARY KEY,
  exclusive_mark  INTEGER NOT NULL,
  any_mark        INTEGER NOT NULL,
  written_at      INTEGER NOT NULL
) WITHOUT ROWID
