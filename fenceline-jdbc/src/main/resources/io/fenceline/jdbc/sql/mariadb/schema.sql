-- schema.sql (MariaDB, MySQL): the tables of the locks. Statements are separated by a line with a semicolon.
--
-- locks   one row a name. It has the last grant number, which a release keeps, and one holder; the
--         holder of a mutex is always here, so that taking a free name is one statement.
-- claims  the holders for whom there was no room in the name's row, and those who wait. "others"
--         counts them. They change only while their name's row is locked, but for their end.
-- transaction_locks  rows to be locked by TransactionLock, and how often they were; otherwise not used.
--
-- format  one row: the version, the largest number that may have been forgotten with a row of locks, and
--         when rows were last removed.
--
-- Times are microseconds since 1970 by the database's clock; "ends" of a free name is when it
-- became free. A mutex takes all units of 2^31, a shared claim one of them, a permit one of n.

CREATE TABLE IF NOT EXISTS {locks} (
  name         VARBINARY(200) NOT NULL PRIMARY KEY,
  last_number  BIGINT NOT NULL,
  tail         BIGINT NOT NULL,
  others       INT NOT NULL,
  owner        BINARY(16),
  number       BIGINT NOT NULL,
  units        BIGINT NOT NULL,
  capacity     BIGINT NOT NULL,
  ends         BIGINT NOT NULL,
  term         BIGINT NOT NULL,
  delay        BIGINT NOT NULL,
  since        BIGINT NOT NULL,
  client       VARCHAR(400) CHARACTER SET utf8mb4 NOT NULL
) ENGINE = InnoDB
;
CREATE TABLE IF NOT EXISTS {claims} (
  owner        BINARY(16) NOT NULL PRIMARY KEY,
  name         VARBINARY(200) NOT NULL,
  held         TINYINT NOT NULL,
  place        BIGINT NOT NULL,
  number       BIGINT NOT NULL,
  units        BIGINT NOT NULL,
  capacity     BIGINT NOT NULL,
  ends         BIGINT NOT NULL,
  term         BIGINT NOT NULL,
  delay        BIGINT NOT NULL,
  since        BIGINT NOT NULL,
  client       VARCHAR(400) CHARACTER SET utf8mb4 NOT NULL,
  INDEX {claims_index} (name, held, place)
) ENGINE = InnoDB
;
CREATE TABLE IF NOT EXISTS {transaction_locks} (
  name         VARBINARY(200) NOT NULL PRIMARY KEY,
  turn         BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB
;
CREATE TABLE IF NOT EXISTS {format} (
  version      INT NOT NULL PRIMARY KEY,
  forgotten    BIGINT NOT NULL DEFAULT 0,
  swept        BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB
;
INSERT IGNORE INTO {format} (version) VALUES (2)
;
