-- schema.sql: the records of work that is done once.
--
-- name         NAME:KEY, in bytes: no collation makes two keys one. The empty name is the row that
--              holds the version of the format as its token.
-- kind         NAME alone: each has a retention of its own
-- state        1 begun, 2 done, 3 failed
-- token        of the worker that has begun last, or has finished
-- since        when it began, in milliseconds since 1970
-- finished_at  null until it is finished; by it old records are found
CREATE TABLE IF NOT EXISTS {table} (
  name {name} PRIMARY KEY,
  kind varchar(50) NOT NULL,
  state integer NOT NULL,
  fingerprint varchar(64) NOT NULL,
  token bigint NOT NULL,
  attempts integer NOT NULL,
  since bigint NOT NULL,
  worker varchar(200) NOT NULL,
  finished_at bigint,
  result {bytes}
) {like};
CREATE INDEX IF NOT EXISTS {index} ON {table} (kind, finished_at);
{insert_new} {table} (name, kind, state, fingerprint, token, attempts, since, worker)
VALUES ({no_name}, '', 0, '', {version}, 0, 0, '') {or_nothing};
