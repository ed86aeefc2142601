--liquibase formatted sql
--changeset fenceline:1 dbms:mariadb

CREATE TABLE IF NOT EXISTS fenceline_locks (
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
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS fenceline_claims (
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
  INDEX fenceline_claims_by_name (name, held, place)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS fenceline_transaction_locks (
  name         VARBINARY(200) NOT NULL PRIMARY KEY,
  turn         BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS fenceline_format (
  version      INT NOT NULL PRIMARY KEY,
  forgotten    BIGINT NOT NULL DEFAULT 0,
  swept        BIGINT NOT NULL DEFAULT 0
) ENGINE = InnoDB;

INSERT IGNORE INTO fenceline_format (version) VALUES (2);

CREATE TABLE IF NOT EXISTS fenceline_fences (
  resource        VARBINARY(200) NOT NULL PRIMARY KEY,
  exclusive_mark  BIGINT NOT NULL,
  any_mark        BIGINT NOT NULL,
  written_at      BIGINT NOT NULL
) ENGINE = InnoDB;
