-- turn.sql (MariaDB): grants a name to the first who waits for it, as a mutex, in one request.
--
-- Returns the grant number; no row if it is not so simple, and the long way has to be gone: if the name is
-- held, anyone is before it in the queue, be it dead, or the claim is gone or over.
--
-- The name's row is locked first, and the claims are read by a statement of their own: as in the long way,
-- but without a client between them that may stop.

BEGIN NOT ATOMIC
  DECLARE our_number BIGINT;
  DECLARE our_delay BIGINT;
  DECLARE our_client VARCHAR(400) CHARACTER SET utf8mb4;
  START TRANSACTION;
  SELECT GREATEST(last_number + 1, :seen + 1, {clock_number}) INTO our_number
  FROM {locks}
  WHERE name = :name AND owner IS NULL AND last_number < {max_number}
  FOR UPDATE;
  IF our_number IS NOT NULL THEN
    SELECT c.delay, c.client INTO our_delay, our_client
    FROM {claims} AS c
    WHERE c.owner = :owner AND c.name = :name AND c.held = 0
      AND c.ends > {now} AND c.ends <= {now} + c.term + {slack}
      AND NOT EXISTS (SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 1)
      AND NOT EXISTS (
        SELECT 1 FROM {claims} AS a WHERE a.name = :name AND a.held = 0 AND a.place < c.place);
  END IF;
  IF our_client IS NOT NULL THEN
    UPDATE {locks} SET
      last_number = our_number, number = our_number, owner = :owner, units = {whole},
      capacity = {whole}, ends = {now} + :term, term = :term, delay = our_delay, since = {now},
      client = our_client, others = others - 1
    WHERE name = :name;
    DELETE FROM {claims} WHERE owner = :owner;
    COMMIT AND NO CHAIN NO RELEASE;
  ELSE
    ROLLBACK AND NO CHAIN NO RELEASE;
  END IF;
  SELECT our_number AS number FROM DUAL WHERE our_client IS NOT NULL;
END
