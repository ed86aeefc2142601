-- rights.sql (PostgreSQL): the rights that locks need and the user lacks, as GRANT names them.
--
-- The tables are looked up in the catalogue: without USAGE of its schema, a table can't be named, or is
-- passed over as if it were not there. Of several schemas, the first one counts in which they are to be had.

WITH places AS (
  SELECT n.oid, n.nspname, p.place
  FROM unnest(string_to_array(
         CASE WHEN '{schema}' <> '' THEN '{schema}'
              ELSE replace(replace(replace(current_setting('search_path'), '"', ''), ' ', ''),
                           '$user', current_user) END,
         ',')) WITH ORDINALITY AS p (name, place)
  JOIN pg_catalog.pg_namespace AS n ON n.nspname = p.name
), found AS (
  SELECT DISTINCT ON (c.relname)
    c.oid, c.relname, s.oid AS schema, s.nspname, has_schema_privilege(s.oid, 'USAGE') AS usable
  FROM places AS s JOIN pg_catalog.pg_class AS c ON c.relnamespace = s.oid
  WHERE c.relname IN ('{prefix}_locks', '{prefix}_claims', '{prefix}_format')
  ORDER BY c.relname, usable DESC, s.place
)
SELECT DISTINCT 'USAGE ON SCHEMA ' || nspname FROM found WHERE NOT usable
UNION ALL
SELECT r.kind || ' ON ' || nspname || '.' || relname
FROM found
JOIN (VALUES ('locks', 'SELECT'), ('locks', 'INSERT'), ('locks', 'UPDATE'), ('locks', 'DELETE'),
             ('claims', 'SELECT'), ('claims', 'INSERT'), ('claims', 'UPDATE'), ('claims', 'DELETE'),
             ('format', 'SELECT'), ('format', 'UPDATE')) AS r (name, kind)
  ON relname = '{prefix}_' || r.name
WHERE NOT CASE r.kind WHEN 'DELETE' THEN has_table_privilege(found.oid, r.kind)
                      ELSE has_any_column_privilege(found.oid, r.kind) END
