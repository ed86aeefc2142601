-- fence-schema.sql (PostgreSQL): what JdbcFence remembers. Pages are half empty, so that a row's next
-- version stays beside it and the index need not change.

CREATE TABLE IF NOT EXISTS {fences} (
  resource        bytea  NOT NULL PRIMARY KEY,
  exclusive_mark  bigint NOT NULL,
  any_mark        bigint NOT NULL,
  written_at      bigint NOT NULL
) WITH (fillfactor = 50)
