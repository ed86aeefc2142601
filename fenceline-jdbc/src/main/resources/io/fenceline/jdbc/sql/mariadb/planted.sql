-- planted.sql (MariaDB): what somebody else may have put in the place of our tables, or added to them.
--
-- Tables belong to nobody here, and a trigger has the rights of whoever made it; but a view can call a
-- function with ours, and a trigger can change what we write. Only a user with the right TRIGGER sees them.

SELECT CONCAT(TABLE_NAME, ' is not a table') AS found
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = COALESCE(NULLIF('{schema}', ''), DATABASE())
  AND TABLE_NAME IN ({our_names})
  AND TABLE_TYPE <> 'BASE TABLE' AND COALESCE(:trusted, 'nobody') IS NOT NULL
UNION ALL
SELECT CONCAT(EVENT_OBJECT_TABLE, ' has the trigger ', TRIGGER_NAME)
FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = COALESCE(NULLIF('{schema}', ''), DATABASE())
  AND EVENT_OBJECT_TABLE IN ({our_names})
{all_rows}
