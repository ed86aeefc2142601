-- smooth-mariadb.sql: smooth.sql in the words of MariaDB, as one compound statement.
--
-- Parameters: period, interval, k, burst, longest wait, name.
BEGIN NOT ATOMIC
  DECLARE its_period, spacing, k, burst, longest, clock, shift, time, at BIGINT;
  DECLARE r_kind, r_taken INT DEFAULT 0;
  DECLARE r_period, r_seen, r_shift, r_due, r_expires BIGINT;
  DECLARE r_name VARBINARY(200);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET its_period = ?, spacing = ?, k = ?, burst = ?, longest = ?, r_name = ?;
  START TRANSACTION;
  INSERT INTO {table} (name, kind, period_us, seen_us, shift_us, due_us, marks, expires_us)
  VALUES (r_name, 2, its_period, 0, 0, 0, '[]', {now} + 60000000)
  ON DUPLICATE KEY UPDATE kind = kind;
  SELECT kind, period_us, seen_us, shift_us, due_us, expires_us
  INTO r_kind, r_period, r_seen, r_shift, r_due, r_expires
  FROM {table} WHERE name = r_name FOR UPDATE;
  SET clock = {now};
  IF (r_kind = 2 AND r_period = its_period) OR r_expires < clock THEN
    SET shift = GREATEST(r_shift, r_seen - clock);
    SET time = clock + shift;
    SET at = GREATEST(time, r_due + (k - burst) * spacing);
    IF at - time <= longest THEN
      SET r_taken = 1;
      SET r_due = GREATEST(at, r_due) + k * spacing;
      UPDATE {table} SET
        kind = 2, period_us = its_period, seen_us = time, shift_us = shift, due_us = r_due,
        expires_us = r_due - shift
      WHERE name = r_name;
    ELSEIF shift > r_shift THEN
      UPDATE {table} SET shift_us = shift WHERE name = r_name;
    END IF;
    COMMIT;
    SELECT r_taken, at - time, at - shift;
  ELSE
    COMMIT;
    SELECT -1, 0, 0;
  END IF;
END
