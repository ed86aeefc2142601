-- delete-claim.sql: a claim that is over.
--
-- Where it is over by its end, a renewal that came between has made it live again.

DELETE FROM {claims} WHERE owner = :owner AND (ends = :read_ends OR :always = 1)
