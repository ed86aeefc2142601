-- fence-marks.sql (MySQL): the marks as they are now, not as the transaction's snapshot has them.
--
-- A statement of its own: what an insert can give back without one is the last generated key of the
-- session, which belongs to the caller.

SELECT exclusive_mark, any_mark FROM {fences} WHERE resource = :resource FOR UPDATE
