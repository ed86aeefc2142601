-- fits.sql: whether what is held of a name leaves room for a claim; a part of other statements.
--
-- w  the claim
-- l  the name's row
--
-- An end too far ahead was set by a clock that has been set back since: asking shortens it, so it
-- counts as free.

w.capacity >= w.units
  + CASE WHEN l.owner IS NOT NULL AND l.ends > {now} AND l.ends <= {now} + l.term + {slack}
         THEN l.units ELSE 0 END
  + (SELECT COALESCE(SUM(h.units), 0) FROM {claims} AS h
     WHERE h.name = l.name AND h.held = 1
       AND h.ends > {now} AND h.ends <= {now} + h.term + {slack})
