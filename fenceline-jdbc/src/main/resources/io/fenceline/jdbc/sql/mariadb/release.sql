-- release.sql (MariaDB): gives a name back whose holder is in its row; the numbers stay.
--
-- Returns how many others there are, and the first who waits; no row if this owner is not there, or its
-- time is over. If the first who waits is another process', rings its bell: see ring.sql. Otherwise returns its
-- client: one that is not known here may be in a process of the same name.
--
-- Those who wait are read by a statement of its own, while the name's row is locked: none can come or go
-- meanwhile. The bell is rung after the commit, so that whoever is woken finds the name free.

BEGIN NOT ATOMIC
  DECLARE others_left INT;
  DECLARE head_owner VARBINARY(16);
  DECLARE head_client VARCHAR(400) CHARACTER SET utf8mb4;
  DECLARE CONTINUE HANDLER FOR 1094, 1095 BEGIN END;
  START TRANSACTION;
  UPDATE {locks} SET owner = NULL, ends = {now}
  WHERE name = :name AND owner = :owner AND ends > {now};
  IF ROW_COUNT() > 0 THEN
    SELECT others INTO others_left FROM {locks} WHERE name = :name;
  END IF;
  IF others_left > 0 THEN
    SELECT w.owner, w.client INTO head_owner, head_client FROM {claims} AS w
    WHERE w.name = :name AND w.held = 0 AND w.ends > {now}
    ORDER BY w.place LIMIT 1;
  END IF;
  COMMIT AND NO CHAIN NO RELEASE;
  IF SUBSTRING_INDEX(head_client, ' ', 1) <> SUBSTRING_INDEX(:client, ' ', 1) THEN
    KILL QUERY IS_USED_LOCK({bell_of_head});
    SET head_client = NULL;
  END IF;
  SELECT others_left AS others, head_owner AS head, head_client AS whose
  FROM DUAL WHERE others_left IS NOT NULL;
END
