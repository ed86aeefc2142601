--liquibase formatted sql
--changeset fenceline:1 dbms:sqlite

CREATE TABLE IF NOT EXISTS fenceline_locks (
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
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS fenceline_claims (
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
) WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS fenceline_claims_by_name ON fenceline_claims (name, held, place);

CREATE TABLE IF NOT EXISTS fenceline_transaction_locks (
  name         BLOB    NOT NULL PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS fenceline_format (
  version      INTEGER NOT NULL PRIMARY KEY,
  forgotten    INTEGER NOT NULL DEFAULT 0,
  swept        INTEGER NOT NULL DEFAULT 0
);

INSERT INTO fenceline_format (version) SELECT 2 WHERE NOT EXISTS (SELECT 1 FROM fenceline_format);

CREATE TABLE IF NOT EXISTS fenceline_fences (
  resource        BLOB    NOT NULL PRIMARY KEY,
  exclusive_mark  INTEGER NOT NULL,
  any_mark        INTEGER NOT NULL,
  written_at      INTEGER NOT NULL
) WITHOUT ROWID;
