-- ring.sql (MariaDB): wakes the process of a claim whose turn has come.
--
-- The process sleeps in a statement, on a connection that has a lock of the server's own by the name of the
-- process: see MariaDbListener. Nobody has that lock (1094) where it does not listen, and a statement of
-- another user (1095) may not be ended: then it looks by itself.

BEGIN NOT ATOMIC
  DECLARE head_client VARCHAR(400) CHARACTER SET utf8mb4 DEFAULT :client;
  DECLARE CONTINUE HANDLER FOR 1094, 1095 BEGIN END;
  KILL QUERY IS_USED_LOCK({bell_of_head});
END
