-- strict-mariadb.sql: strict.sql in the words of MariaDB, as one compound statement. The client sends it
-- whole, so that one that pauses or dies keeps nobody waiting at the row.
--
-- Parameters: period, n, k, grain, longest wait, name.
BEGIN NOT ATOMIC
  DECLARE its_period, n, k, grain, longest, clock, shift, time, at, mark_of BIGINT;
  DECLARE r_kind, r_taken INT DEFAULT 0;
  DECLARE r_period, r_seen, r_shift, r_expires, in_the_way, last_mark BIGINT;
  DECLARE r_name VARBINARY(200);
  DECLARE r_marks LONGTEXT;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET its_period = ?, n = ?, k = ?, grain = ?, longest = ?, r_name = ?;
  START TRANSACTION;
  INSERT INTO {table} (name, kind, period_us, seen_us, shift_us, due_us, marks, expires_us)
  VALUES (r_name, 1, its_period, 0, 0, 0, '[]', {now} + 60000000)
  ON DUPLICATE KEY UPDATE kind = kind;
  SELECT kind, period_us, seen_us, shift_us, marks, expires_us
  INTO r_kind, r_period, r_seen, r_shift, r_marks, r_expires
  FROM {table} WHERE name = r_name FOR UPDATE;
  SET clock = {now};
  IF (r_kind = 1 AND r_period = its_period) OR r_expires < clock THEN
    SET shift = GREATEST(r_shift, r_seen - clock);
    SET time = clock + shift;
    SELECT MAX(mark) INTO in_the_way FROM (
      SELECT mark, SUM(permits) OVER (ORDER BY mark DESC) AS since FROM {marks} AS m) AS sums
    WHERE since > n - k;
    SELECT MAX(mark) INTO last_mark FROM {marks} AS m;
    SET at = GREATEST(
      time, COALESCE(last_mark - grain + 1, 0), COALESCE(in_the_way + its_period, 0));
    IF at - time <= longest THEN
      SET r_taken = 1;
      SET mark_of = (at DIV grain + 1) * grain - 1;
      SELECT CONCAT('[', GROUP_CONCAT('[', mark, ',', permits, ']' ORDER BY mark SEPARATOR ','), ']')
      INTO r_marks FROM (
        SELECT mark, SUM(permits) AS permits FROM (
          SELECT mark, permits FROM {marks} AS m WHERE mark + its_period > time
          UNION ALL SELECT mark_of, k) AS kept
        GROUP BY mark) AS merged;
      UPDATE {table} SET
        kind = 1, period_us = its_period, seen_us = time, shift_us = shift, marks = r_marks,
        expires_us = mark_of + its_period - shift
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
