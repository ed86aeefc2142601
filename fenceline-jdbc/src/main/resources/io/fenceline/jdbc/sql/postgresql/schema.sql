-- schema.sql (PostgreSQL): the tables of the locks. Statements are separated by a line with a semicolon.
--
-- locks   one row a name. It has the last grant number, which a release keeps, and one holder; the
--         holder of a mutex is always here, so that taking a free name is one statement.
-- claims  the holders for whom there was no room in the name's row, and those who wait. "others"
--         counts them. They change only while their name's row is locked, but for their end.
--
-- format  one row: the version, the largest number that may have been forgotten with a row of locks, and
--         when rows were last removed.
--
-- Times are microseconds since 1970 by the database's clock; "ends" of a free name is when it
-- became free, or would have at the latest. "number" of the holder in a name's row may be 0: then it is
-- the last number; and "since" may be 0 until the first renewal: then it is "ends" less "term". A mutex
-- takes all units of 2^31, a shared claim one of them, a permit one of n. Pages are half empty, so that a
-- row's next version stays beside it and no index has to change.

CREATE TABLE IF NOT EXISTS {locks} (
  name         bytea   NOT NULL PRIMARY KEY,
  last_number  bigint  NOT NULL,
  tail         bigint  NOT NULL,
  others       integer NOT NULL,
  owner        bytea,
  number       bigint  NOT NULL,
  units        bigint  NOT NULL,
  capacity     bigint  NOT NULL,
  ends         bigint  NOT NULL,
  term         bigint  NOT NULL,
  delay        bigint  NOT NULL,
  since        bigint  NOT NULL,
  client       text    NOT NULL
) WITH (fillfactor = 50)
;
CREATE TABLE IF NOT EXISTS {claims} (
  owner        bytea   NOT NULL PRIMARY KEY,
  name         bytea   NOT NULL,
  held         smallint NOT NULL,
  place        bigint  NOT NULL,
  number       bigint  NOT NULL,
  units        bigint  NOT NULL,
  capacity     bigint  NOT NULL,
  ends         bigint  NOT NULL,
  term         bigint  NOT NULL,
  delay        bigint  NOT NULL,
  since        bigint  NOT NULL,
  client       text    NOT NULL
) WITH (fillfactor = 50)
;
CREATE INDEX IF NOT EXISTS {claims_index} ON {claims} (name, held, place)
;
CREATE TABLE IF NOT EXISTS {format} (
  version      integer NOT NULL PRIMARY KEY,
  forgotten    bigint NOT NULL DEFAULT 0,
  swept        bigint NOT NULL DEFAULT 0
)
;
INSERT INTO {format} (version) SELECT 2 WHERE NOT EXISTS (SELECT 1 FROM {format})
;
