-- release.sql (MySQL): gives a name back whose holder is in its row; the numbers stay.
--
-- Changes no row if this owner is not there, or its time is over. The owner, which the condition
-- reads, is not read by an assignment.

UPDATE {locks} SET owner = NULL, ends = {now}
WHERE name = :name AND owner = :owner AND ends > {now}
