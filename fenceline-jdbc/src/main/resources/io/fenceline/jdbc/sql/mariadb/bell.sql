-- bell.sql (MariaDB): sleeps until someone ends this statement, and not at all if it is the turn of somebody of
-- this process. One of another process may be slow to take its turn, or dead: nobody here could do anything.
--
-- Looking and sleeping are one request: a KILL that comes while the connection has none is dropped, but it
-- comes after the commit that it tells of, and so before this look. :armed is a lock that says, to those
-- who join a queue, that this request has begun; :before and :older were those of the two before.
--
-- It sleeps in a DO, since a SELECT that is ended is an error, which the driver writes to the log. It looks in a
-- SELECT, since a DO locks what it reads, for as long as it sleeps.

BEGIN NOT ATOMIC
  DECLARE ready INT;
  DO RELEASE_LOCK(:before), RELEASE_LOCK(:older), GET_LOCK(:armed, 0);
  SELECT COUNT(*) INTO ready FROM (
  {look_for_turns}
  ) AS t JOIN {claims} AS ours ON ours.owner = t.owner
  WHERE SUBSTRING_INDEX(ours.client, ' ', 1) = SUBSTRING_INDEX(:client, ' ', 1);
  DO SLEEP(IF(ready > 0, 0, :seconds));
END
