-- update-claim.sql: a claim that now holds, or whose time was changed.
--
-- Where that rests on the end that was read, a renewal that came between must not be overwritten.

UPDATE {claims} SET held = :held, number = :number, ends = :ends, term = :term, since = :since
WHERE owner = :owner AND (ends = :read_ends OR :always = 1)
