-- schema.sql (SQLite): the tables of the locks. Statements are separated by a line with a semicolon.
--
-- locks   one row a name. It has the last grant number, which a release keeps, and one holder; the
--         holder of a mutex is always here, so that taking a free name is one statement.
-- claims  the holders for whom there was no room in the name's row, and those who wait. "others"
--         counts them. They change only while their name's row is locked, but for their end.
-- transaction_locks  rows to be locked by TransactionLock; otherwise not used.
--
-- format  one row: the version, the largest number that may have been forgotten with a row of locks, and
--         when rows were last removed.
--
-- Times are microseconds since 1970 by the database's clock; "ends" of a free name is when it
-- became free. A mutex takes all units of 2^31, a shared claim one of them, a permit one of n.

CREATE TABLE IF NOT EXISTS {locks} (
  name         BLOB    NOT NULL PRIMARY KEY,
  last_number  INTEGER NOT NULL,
  tail         INTEGER NOT NULL,
  others       INTEGER NOT NULL,
  owner        BLOB,
  number       INTEGER NOT NULL,
  units        INTEGER NOT NULL,
  capacity     INTEGER NOT NULL,
  ends         INTEGER NOT NULL,
  term         INTEGER NOT NULL,
  delay        INTEGER NOT NULL,
  since        INTEGER NOT NULL,
  client       TEXT    NOT NULL
) WITHOUT ROWID
;
CREATE TABLE IF NOT EXISTS {claims} (
  owner        BLOB    NOT NULL PRIMARY KEY,
  name         BLOB    NOT NULL,
  held         INTEGER NOT NULL,
  place        INTEGER NOT NULL,
  number       INTEGER NOT NULL,
  units        INTEGER NOT NULL,
  capacity     INTEGER NOT NULL,
  ends         INTEGER NOT NULL,
  term         INTEGER NOT NULL,
  delay        INTEGER NOT NULL,
  since        INTEGER NOT NULL,
  client       TEXT    NOT NULL
) WITHOUT ROWID
;
CREATE INDEX IF NOT EXISTS {claims_index} ON {claims} (name, held, place)
;
CREATE TABLE IF NOT EXISTS {transaction_locks} (
  name         BLOB    NOT NULL PRIMARY KEY
) WITHOUT ROWID
;
CREATE TABLE IF NOT EXISTS {format} (
  version      INTEGER NOT NULL PRIMARY KEY,
  forgotten    INTEGER NOT NULL DEFAULT 0,
  swept        INTEGER NOT NULL DEFAULT 0
)
;
INSERT INTO {format} (version) SELECT 2 WHERE NOT EXISTS (SELECT 1 FROM {format})
;
