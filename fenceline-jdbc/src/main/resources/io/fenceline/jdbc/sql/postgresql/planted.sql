-- planted.sql (PostgreSQL): what somebody else may have put in the place of our tables, or added to them.
--
-- Who may create tables in the schema could have made ours before we did, with a trigger that does with
-- our rights whatever it wants. So they must belong to us or to a role of ours, to a superuser, to whoever
-- owns the schema or the database, or to the role that we were told; and have neither triggers nor rules.
-- A superuser is a member of every role, which says nothing.

WITH ours AS (
  SELECT c.oid, c.relname, c.relkind, c.relowner, n.nspowner
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.oid IN ({our_classes})
)
SELECT relname || ' is not a table' FROM ours WHERE relkind NOT IN ('r', 'p')
UNION ALL
SELECT relname || ' belongs to ' || pg_catalog.pg_get_userbyid(relowner)
FROM ours
WHERE pg_catalog.pg_get_userbyid(relowner) NOT IN (current_user, :trusted)
  AND relowner <> nspowner
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE oid = relowner AND rolsuper)
  AND NOT EXISTS (
    SELECT 1 FROM pg_catalog.pg_database
    WHERE datname = pg_catalog.current_database() AND datdba = relowner)
  AND NOT EXISTS (
    SELECT 1 FROM pg_catalog.pg_roles
    WHERE rolname = current_user AND NOT rolsuper
      AND pg_catalog.pg_has_role(rolname, relowner, 'MEMBER'))
UNION ALL
SELECT relname || ' has the trigger ' || tgname
FROM ours JOIN pg_catalog.pg_trigger ON tgrelid = ours.oid AND NOT tgisinternal
UNION ALL
SELECT relname || ' has the rule ' || rulename
FROM ours JOIN pg_catalog.pg_rewrite ON ev_class = ours.oid
