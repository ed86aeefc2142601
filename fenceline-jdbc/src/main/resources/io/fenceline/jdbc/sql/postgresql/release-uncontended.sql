-- release-uncontended.sql (PostgreSQL): releases a name whose holder is in its row, if nobody has to be told.
--
-- Changes no row if this owner is not there, its time is over, or there are others: release.sql has to
-- be asked. The commit need not be on disk yet: losing it costs waiting, not safety. The end stays as it
-- was, so that the name is forgotten later by what was left of the lease.

UPDATE {locks} SET owner = NULL
WHERE name = :name AND owner = :owner AND others = 0 AND ends > {arrived} AND {lazy}
