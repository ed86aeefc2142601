-- claim.sql (MariaDB): takes a name that nobody holds or waits for, in one statement.
--
-- Returns whose the name is now, and the number of that grant: it is ours if the owner is. Otherwise
-- nothing was changed, and the long way has to be gone. A repeat by the owner that holds it starts
-- the lease again and returns the same number; the lease never ends sooner by it, since the repeat may
-- come after a renewal.
--
-- The assignments are done one after the other and see what those before them did. The numbers come
-- first, while owner and end are still the old ones; then the owner, by the same condition; then
-- the rest, if the owner is ours. The end of a name that was free is in the past: only our own can be
-- later than the one that is asked for.

INSERT INTO {locks}
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES
  (:name, GREATEST(:seen + 1, {clock_number}), 0, 0, :owner, GREATEST(:seen + 1, {clock_number}),
   :units, :capacity, {now} + :term, :term, :delay, {now}, :client)
ON DUPLICATE KEY UPDATE
  last_number = IF(NOT (owner <=> VALUES(owner)) AND {free},
                   GREATEST(last_number + 1, VALUES(number)), last_number),
  number      = IF(NOT (owner <=> VALUES(owner)) AND {free}, last_number, number),
  since       = IF(NOT (owner <=> VALUES(owner)) AND {free}, VALUES(since), since),
  owner       = IF(owner <=> VALUES(owner) OR {free}, VALUES(owner), owner),
  units       = IF(owner = VALUES(owner), VALUES(units), units),
  capacity    = IF(owner = VALUES(owner), VALUES(capacity), capacity),
  term        = IF(owner = VALUES(owner),
                   IF(ends > VALUES(ends), GREATEST(term, VALUES(term)), VALUES(term)), term),
  ends        = IF(owner = VALUES(owner), GREATEST(ends, VALUES(ends)), ends),
  delay       = IF(owner = VALUES(owner), VALUES(delay), delay),
  client      = IF(owner = VALUES(owner), VALUES(client), client)
RETURNING number, owner
