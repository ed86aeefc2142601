-- renew.sql (SQLite): starts the leases of many holders again that are in their names' rows.
--
-- Returns the owners whose grants were still there.
-- None ends sooner by it: an older request, for a shorter lease, may come late.

UPDATE {locks} SET ends = max(ends, {now} + :term), term = max(term, :term)
WHERE name IN (:names...) AND owner IN (:owners...) AND ends > {now}
RETURNING owner
