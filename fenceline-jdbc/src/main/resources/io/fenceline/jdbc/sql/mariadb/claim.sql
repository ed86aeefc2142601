-- claim.sql (MariaDB): takes a name that nobody holds or waits for, in one statement.
--
-- Returns whose the name is now, and the number of that grant: it is ours if the owner is. Otherwise
-- nothing was changed, and the long way has to be gone. A repeat by the owner that holds it starts
-- the lease again and returns the same number; the lease never ends sooner by it, since the repeat may
-- come after a renewal.
--
-- Right in whichever order the assignments are done, since sql_mode may make them see the row as it was
-- (SIMULTANEOUS_ASSIGNMENT), or as those before have left it: what the conditions read, owner and end,
-- is assigned last, and the end is the same whether the owner is the old one or ours. The end of a name
-- that was free is in the past: only our own can be later than the one that is asked for.

INSERT INTO {locks}
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES
  (:name, GREATEST(:seen + 1, {clock_number}, {after_forgotten}), 0, 0, :owner,
   GREATEST(:seen + 1, {clock_number}, {after_forgotten}),
   :units, :capacity, {now} + :term, :term, :delay, {now}, :client)
ON DUPLICATE KEY UPDATE
  number      = IF(NOT {ours} AND {free}, GREATEST(last_number + 1, VALUES(number)), number),
  last_number = IF(NOT {ours} AND {free}, GREATEST(last_number + 1, VALUES(number)), last_number),
  since       = IF(NOT {ours} AND {free}, VALUES(since), since),
  units       = IF({ours} OR {free}, VALUES(units), units),
  capacity    = IF({ours} OR {free}, VALUES(capacity), capacity),
  term        = IF({ours} OR {free},
                   IF(ends > VALUES(ends), GREATEST(term, VALUES(term)), VALUES(term)), term),
  delay       = IF({ours} OR {free}, VALUES(delay), delay),
  client      = IF({ours} OR {free}, VALUES(client), client),
  owner       = IF({ours} OR {free}, VALUES(owner), owner),
  ends        = IF({ours} OR {free}, GREATEST(ends, VALUES(ends)), ends)
RETURNING number, owner
