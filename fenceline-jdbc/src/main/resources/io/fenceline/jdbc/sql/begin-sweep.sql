-- begin-sweep.sql: lets one client at a time sweep, and remembers first what may be forgotten by it.
--
-- :due         whether the last sweep has to be :pause ago; otherwise it is begun in any case
-- :age_number  as many numbers as the clock gives in the time after which names are forgotten
--
-- Numbers of rows that are deleted afterwards are no larger than what is written here. Changes no row if
-- another client has swept of late; a time ahead was written before the clock was set back. The version is
-- its key: MariaDB with sql_safe_updates refuses to change rows that were not looked up by one.

{waits_for}UPDATE {format}
SET forgotten = {greater}(forgotten, {clock_number} - :age_number), swept = {now}
WHERE version > 0 AND (:due = 0 OR swept < {now} - :pause OR swept > {now})
