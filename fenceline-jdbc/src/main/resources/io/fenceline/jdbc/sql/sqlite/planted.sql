-- planted.sql (SQLite): what somebody else may have put in the place of our tables, or added to them.

SELECT tbl_name || ' has the ' || type || ' ' || name
FROM sqlite_master
WHERE tbl_name IN ({our_names})
  AND type IN ('trigger', 'view') AND :trusted IS NOT NULL
