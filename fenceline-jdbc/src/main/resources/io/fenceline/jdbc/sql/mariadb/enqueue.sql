-- enqueue.sql (MariaDB): puts a mutex claim at the end of the queue of a name that is not free, in one
-- request, so that no row is locked while an answer is under way.
--
-- Returns who holds the name, whether anyone who is alive waits before, and whether :bell is armed (see
-- MariaDbListener); no row if it is not so simple, and the others have to be asked: if the name is free,
-- has holders of its own kind beside the row or claims of another kind, or if this owner is there already.
--
-- The name's row is locked first, and the claims are read by statements of their own.

BEGIN NOT ATOMIC
  DECLARE our_tail BIGINT;
  DECLARE is_held INT;
  DECLARE holder VARCHAR(400) CHARACTER SET utf8mb4;
  DECLARE holder_number BIGINT;
  DECLARE holder_lasts BIGINT;
  DECLARE kind BIGINT;
  DECLARE is_simple INT DEFAULT 0;
  DECLARE is_behind INT DEFAULT 0;
  START TRANSACTION;
  SELECT GREATEST(tail + 1, {now}), IF(owner IS NOT NULL AND ends > {now}, 1, 0), client, number,
    ends - {now}, IF(owner IS NOT NULL, capacity, NULL)
  INTO our_tail, is_held, holder, holder_number, holder_lasts, kind
  FROM {locks}
  WHERE name = :name AND NOT owner <=> :owner
    AND (others > 0 OR (owner IS NOT NULL AND ends > {now}))
  FOR UPDATE;
  IF our_tail IS NOT NULL THEN
    SELECT
      IF({whole} = COALESCE(kind,
          (SELECT c.capacity FROM {claims} AS c
           WHERE c.name = :name AND c.held = 0 ORDER BY c.place LIMIT 1))
        AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.owner = :owner)
        AND NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE c.name = :name AND c.held = 1), 1, 0),
      EXISTS (SELECT 1 FROM {claims} AS c WHERE c.name = :name AND c.held = 0 AND c.ends > {now})
    INTO is_simple, is_behind;
  END IF;
  IF is_simple = 1 THEN
    UPDATE {locks} SET tail = our_tail, others = others + 1 WHERE name = :name;
    INSERT INTO {claims}
      (owner, name, held, place, number, units, capacity, ends, term, delay, since, client)
    VALUES
      (:owner, :name, 0, our_tail, 0, {whole}, {whole}, {now} + :term, :term, :delay, {now}, :client);
    COMMIT AND NO CHAIN NO RELEASE;
  ELSE
    ROLLBACK AND NO CHAIN NO RELEASE;
  END IF;
  SELECT is_held AS held, holder AS client, holder_number AS number, holder_lasts AS lasts,
    is_behind AS `before`, IF(IS_USED_LOCK(:bell) IS NULL, 0, 1) AS armed
  FROM DUAL WHERE is_simple = 1;
END
