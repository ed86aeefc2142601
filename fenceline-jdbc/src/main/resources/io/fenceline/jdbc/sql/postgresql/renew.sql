-- renew.sql (PostgreSQL): starts the leases of many holders again that are in their names' rows.
--
-- Returns the owners whose grants were still there. On disk before it is answered, as a claim is.
-- The number is compared, too: a copy of a claim that comes late may have
-- been granted anew to the same owner. None ends sooner by it: an older request, for a shorter lease, may come late.

UPDATE {locks} AS l SET
  ends = GREATEST(ends, {now} + :term), term = GREATEST(term, :term), since = {row_since}
WHERE name IN (:names...) AND owner IN (:owners...) AND {row_number} IN (:numbers...) AND ends > {now}
  AND (SELECT {durable}) {waits}
RETURNING owner
