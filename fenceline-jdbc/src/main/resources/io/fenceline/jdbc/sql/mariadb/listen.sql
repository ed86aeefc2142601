-- listen.sql (MariaDB): takes the lock by which the bell of this process is found.
--
-- Returns 1 if this session has it.

SELECT IF(IS_USED_LOCK({bell_of_client}) <=> CONNECTION_ID(), 1, GET_LOCK({bell_of_client}, 0))
