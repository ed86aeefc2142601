-- claim.sql (MySQL): takes a name that nobody holds or waits for, in one statement.
--
-- The number of the grant is the key that the statement generates: MySQL can't return rows that it has
-- written, but the answer to an insert carries what LAST_INSERT_ID was last given. 0 means that nothing
-- was changed, and the long way has to be gone. A repeat by the owner that holds the name starts the
-- lease again and gives the same number; the lease never ends sooner by it, since the repeat may come
-- after a renewal.
--
-- Right whether an assignment sees the row as it was, or as those before it have left it: what the
-- conditions read, owner and end, is assigned last, and the end is the same whether the owner is the old
-- one or ours. The values of the insert are written out again, since VALUES() is about to go and its
-- successor came only with 8.0.19.

INSERT INTO {locks}
  (name, last_number, tail, others, owner, number,
   units, capacity, ends, term, delay, since, client)
VALUES
  (:name, GREATEST(:seen + 1, {clock_number}, {after_forgotten}), 0, 0, :owner,
   LAST_INSERT_ID(GREATEST(:seen + 1, {clock_number}, {after_forgotten})),
   :units, :capacity, {now} + :term, :term, :delay, {now}, :client)
ON DUPLICATE KEY UPDATE
  number      = IF({ours}, LAST_INSERT_ID(number),
                   IF({free}, LAST_INSERT_ID(GREATEST(last_number + 1, :seen + 1, {clock_number})),
                      number + 0 * LAST_INSERT_ID(0))),
  last_number = IF(NOT {ours} AND {free},
                   GREATEST(last_number + 1, :seen + 1, {clock_number}), last_number),
  since       = IF(NOT {ours} AND {free}, {now}, since),
  units       = IF({ours} OR {free}, :units, units),
  capacity    = IF({ours} OR {free}, :capacity, capacity),
  term        = IF({ours} OR {free}, IF(ends > {now} + :term, GREATEST(term, :term), :term), term),
  delay       = IF({ours} OR {free}, :delay, delay),
  client      = IF({ours} OR {free}, :client, client),
  owner       = IF({ours} OR {free}, :owner, owner),
  ends        = IF({ours} OR {free}, GREATEST(ends, {now} + :term), ends)
