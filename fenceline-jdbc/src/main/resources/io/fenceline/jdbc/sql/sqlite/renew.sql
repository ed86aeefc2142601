-- renew.sql (SQLite): starts the leases of many holders again that are in their names' rows.
--
-- Returns the owners whose grants were still there.
-- The number is compared, too: a copy of a claim that comes late may have
-- been granted anew to the same owner. None ends sooner by it: an older request, for a shorter lease, may come late.

UPDATE {locks} SET ends = max(ends, {now} + :term), term = max(term, :term)
WHERE name IN (:names...) AND owner IN (:owners...) AND number IN (:numbers...) AND ends > {now}
RETURNING owner
