-- renew.sql (MySQL): starts the leases of many holders again that are in their names' rows.
--
-- The rows are locked first, by a read that can be told not to wait for them; an update can't. The number
-- is compared, too: a copy of a claim that comes late may have been granted anew to the same owner. None
-- ends sooner by it: an older request, for a shorter lease, may come late. The limit keeps the server
-- from making one query of the two.

UPDATE {locks} AS l JOIN (
  SELECT name FROM {locks}
  WHERE name IN (:names...) AND owner IN (:owners...) AND number IN (:numbers...) AND ends > {now}
  {all_rows}
  FOR UPDATE {waits}
) AS live ON live.name = l.name
SET l.ends = GREATEST(l.ends, {now} + :term), l.term = GREATEST(l.term, :term)
