-- release-uncontended.sql (MariaDB): releases a name whose holder is in its row, if nobody else is there; the
-- numbers stay.
--
-- Changes no row if this owner is not there, its time is over, or someone has to be told.

UPDATE {locks} SET owner = NULL, ends = {now}
WHERE name = :name AND owner = :owner AND ends > {now} AND others = 0
