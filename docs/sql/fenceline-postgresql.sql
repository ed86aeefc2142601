--liquibase formatted sql
--changeset fenceline:1 dbms:postgresql

CREATE TABLE IF NOT EXISTS fenceline_locks (
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
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS fenceline_claims (
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
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS fenceline_claims_by_name ON fenceline_claims (name, held, place);

CREATE TABLE IF NOT EXISTS fenceline_format (
  version      integer NOT NULL PRIMARY KEY,
  forgotten    bigint NOT NULL DEFAULT 0,
  swept        bigint NOT NULL DEFAULT 0
);

INSERT INTO fenceline_format (version) SELECT 2 WHERE NOT EXISTS (SELECT 1 FROM fenceline_format);

CREATE TABLE IF NOT EXISTS fenceline_fences (
  resource        bytea  NOT NULL PRIMARY KEY,
  exclusive_mark  bigint NOT NULL,
  any_mark        bigint NOT NULL,
  written_at      bigint NOT NULL
) WITH (fillfactor = 50);
