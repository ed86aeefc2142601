-- renew.sql (MariaDB): starts the leases of many holders again that are in their names' rows.
--
-- The number is compared, too: a copy of a claim that comes late may have
-- been granted anew to the same owner. None ends sooner by it: an older request, for a shorter lease, may come late.

{waits_for}UPDATE {locks} SET ends = GREATEST(ends, {now} + :term), term = GREATEST(term, :term)
WHERE name IN (:names...) AND owner IN (:owners...) AND number IN (:numbers...) AND ends > {now}
