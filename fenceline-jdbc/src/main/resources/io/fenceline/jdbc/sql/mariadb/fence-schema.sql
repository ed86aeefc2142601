-- fence-schema.sql (MariaDB, MySQL): what JdbcFence remembers.

CREATE TABLE IF NOT EXISTS {fences} (
  resource        VARBINARY(200) NOT NULL PRIMARY KEY,
  exclusive_mark  BIGINT NOT NULL,
  any_mark        BIGINT NOT NULL,
  written_at      BIGINT NOT NULL
) ENGINE = InnoDB
