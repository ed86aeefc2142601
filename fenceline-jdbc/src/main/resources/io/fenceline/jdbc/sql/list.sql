-- list.sql: names that are held or waited for, in byte order.

SELECT name FROM {locks}
WHERE name > :after AND name >= :low AND name < :high
  AND (others > 0 OR (owner IS NOT NULL AND ends > {now}))
ORDER BY name
LIMIT :limit
