package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.layout.Channels;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The path that decides: locks the row of a name, reads all that decides about it, lets it be
 * decided, and writes what has changed.
 */
public final class NameTransaction {
  /** Of a free name. Not empty, which some databases can be told to take for NULL. */
  private static final String NO_CLIENT = "-";

  private static final byte[] NOBODY = new byte[0];

  private final Dialect dialect;
  private final Statements statements;
  private final BiConsumer<String, String> tells;
  private final Supplier<byte[]> nobody;

  /**
   * What came of it.
   *
   * @param answer the decision
   * @param next the first who waits, if its turn has come
   */
  private record Outcome<T extends @Nullable Object>(T answer, @Nullable ClaimRow next) {}

  /** Something that was read has changed before it could be acted on. */
  private static final class ChangedMeanwhile extends SQLException {
    private static final long serialVersionUID = 1L;

    ChangedMeanwhile() {
      super("a claim was renewed while it was about to end", "40001");
    }
  }

  /** The row of a name. */
  private record NameRow(long lastNumber, long tail, int others, @Nullable ClaimRow slot) {}

  /**
   * For one store.
   *
   * @param tells hears whose turn has come: the public id of a claim, and its client
   * @param nobody draws an owner that nobody has
   */
  public NameTransaction(
      Dialect dialect,
      Statements statements,
      BiConsumer<String, String> tells,
      Supplier<byte[]> nobody) {
    this.dialect = dialect;
    this.statements = statements;
    this.tells = tells;
    this.nobody = nobody;
  }

  /** Decides about a claim; a name without a row gets one. */
  ClaimAnswer claim(
      SqlConnection db, ClaimRequest request, Function<LockQueue, ClaimAnswer> decision)
      throws SQLException {
    ClaimAnswer answer = tell(run(db, request.name(), request.owner().bytes(), true, decision));
    if (answer == null) {
      throw new SQLException("the row of the name was deleted meanwhile");
    }
    return answer;
  }

  /** Takes a claim away, be it waiting or granted. */
  void withdraw(SqlConnection db, ClaimRequest request) throws SQLException {
    byte[] owner = request.owner().bytes();
    decide(
        db,
        request.name(),
        owner,
        false,
        name -> {
          name.withdraw(owner);
          return name;
        });
  }

  /** Ends what is over, which to read it under the lock is enough for. */
  public void settle(SqlConnection db, byte[] name) throws SQLException {
    decide(db, new String(name, StandardCharsets.UTF_8), NOBODY, false, record -> record);
  }

  /**
   * Decides about a name that has a row.
   *
   * @param owner whose claim is read in any case
   * @param keeps whether a crash must not undo what is decided, though nobody is granted anything
   * @param decision called once, on what was read
   * @return null if there is no row
   */
  public <T> @Nullable T decide(
      SqlConnection db, String name, byte[] owner, boolean keeps, Function<LockQueue, T> decision)
      throws SQLException {
    if (!keeps) {
      return tell(run(db, name, owner, false, decision));
    }
    dialect.flush(db.connection(), true);
    try {
      return tell(run(db, name, owner, false, decision));
    } finally {
      dialect.flush(db.connection(), false);
    }
  }

  private <T> @Nullable T tell(@Nullable Outcome<T> outcome) {
    if (outcome == null) {
      return null;
    }
    if (outcome.next != null) {
      tells.accept(outcome.next.id(), outcome.next.client);
    }
    return outcome.answer;
  }

  private <T> @Nullable Outcome<T> run(
      SqlConnection db, String name, byte[] owner, boolean creates, Function<LockQueue, T> decision)
      throws SQLException {
    byte[] key = name.getBytes(StandardCharsets.UTF_8);
    Connection connection = db.connection();
    while (true) {
      boolean ended = false;
      try {
        dialect.begin(connection); // It may have begun although this fails.
        NameRow row = readRow(db, key, creates);
        if (row == null) {
          return null;
        }
        LockQueue record = read(db, name, key, row, owner);
        if (record.isCrowdedByTheDead()) {
          removeDead(db, key);
          dialect.commit(connection);
          ended = true;
          continue;
        }
        T answer = decision.apply(record);
        boolean changed = write(db, key, record);
        ClaimRow next = record.nextInTurn();
        if (next != null && statements.tell != null) {
          db.call(statements.tell)
              .set("channel", Channels.of(statements.tables, next.client))
              .set("id", next.id())
              .row(any -> 1);
        }
        if (changed) {
          dialect.commit(connection);
        } else {
          dialect.rollback(connection);
        }
        ended = true;
        return new Outcome<>(answer, next);
      } finally {
        if (!ended) {
          dialect.giveUp(connection);
        }
      }
    }
  }

  /**
   * Deletes many claims that are over. In a transaction of its own for each so many: a process that
   * died with ten thousand waiters must neither keep the name's row locked for all of them, nor be
   * in everybody's way again because the last of them was not reached in time.
   */
  private void removeDead(SqlConnection db, byte[] key) throws SQLException {
    List<byte[]> dead =
        db.call(statements.deadClaims).set("name", key).rows(row -> row.getBytes(1));
    if (dead.isEmpty()) {
      return;
    }
    int gone = db.call(statements.endClaims, dead.size()).set("owners", dead).update();
    db.call(statements.fewerOthers).set("name", key).set("gone", gone).update();
  }

  private @Nullable NameRow readRow(SqlConnection db, byte[] key, boolean creates)
      throws SQLException {
    NameRow row = readRow(db, key);
    if (row == null && creates) {
      db.call(statements.createName).set("name", key).update();
      row = readRow(db, key);
    }
    return row;
  }

  private @Nullable NameRow readRow(SqlConnection db, byte[] key) throws SQLException {
    return db.call(statements.readName)
        .set("name", key)
        .row(
            row ->
                new NameRow(
                    row.getLong("last_number"),
                    row.getLong("tail"),
                    row.getInt("others"),
                    ClaimRow.read(row)));
  }

  private LockQueue read(SqlConnection db, String name, byte[] key, NameRow row, byte[] owner)
      throws SQLException {
    List<ClaimRow> claims = new ArrayList<>();
    int[] waiting = {0};
    List<Long> times =
        db.call(statements.readClaims)
            .set("name", key)
            .set("owner", owner)
            .rows(
                found -> {
                  ClaimRow claim = ClaimRow.read(found);
                  if (claim != null) {
                    claim.held = found.getInt("held") != 0;
                    claim.place = found.getLong("place");
                    waiting[0] += claim.held ? 0 : 1;
                    claims.add(claim);
                  }
                  return found.getLong("now");
                });
    return new LockQueue(
        name,
        time(db, times.get(0), row.slot, claims),
        row.lastNumber,
        row.tail,
        row.others,
        row.slot,
        claims,
        waiting[0] >= Dialect.FRONT,
        nobody);
  }

  /**
   * The time by which ends are judged. MariaDB has the time at which a statement began: if that
   * stood still before it read, an end that was renewed meanwhile looks too far ahead, and would be
   * shortened. So before an end is disbelieved, the time is asked for once more, after the reading.
   */
  private long time(SqlConnection db, long read, @Nullable ClaimRow slot, List<ClaimRow> claims)
      throws SQLException {
    boolean isAhead =
        (slot != null && slot.isTooFarAhead(read))
            || claims.stream().anyMatch(claim -> claim.isTooFarAhead(read));
    Long now = isAhead ? db.call(statements.time).row(row -> row.getLong(1)) : null;
    return now == null ? read : now;
  }

  private boolean write(SqlConnection db, byte[] key, LockQueue record) throws SQLException {
    for (ClaimRow gone : record.deleted()) {
      int changed =
          db.call(statements.deleteClaim)
              .set("owner", gone.owner)
              .set("read_ends", gone.readEnds)
              .set("always", gone.onlyIfUnchanged ? 0 : 1)
              .update();
      check(changed);
    }
    for (ClaimRow entry : record.updated()) {
      int changed =
          db.call(statements.updateClaim)
              .set("owner", entry.owner)
              .set("held", entry.held ? 1 : 0)
              .set("number", entry.number)
              .set("ends", entry.ends)
              .set("term", entry.term)
              .set("since", entry.since)
              .set("read_ends", entry.readEnds)
              .set("always", entry.onlyIfUnchanged ? 0 : 1)
              .update();
      check(changed);
    }
    for (ClaimRow entry : record.inserted()) {
      insert(db, key, entry);
    }
    if (record.isNameChanged()) {
      save(db, key, record);
    }
    return record.isNameChanged() || !record.updated().isEmpty();
  }

  private static void check(int changed) throws SQLException {
    if (changed != 1) {
      throw new ChangedMeanwhile();
    }
  }

  private void insert(SqlConnection db, byte[] key, ClaimRow entry) throws SQLException {
    db.call(statements.insertClaim)
        .set("owner", entry.owner)
        .set("name", key)
        .set("held", entry.held ? 1 : 0)
        .set("place", entry.place)
        .set("number", entry.number)
        .set("units", entry.units.taken())
        .set("capacity", entry.units.capacity())
        .set("ends", entry.ends)
        .set("term", entry.term)
        .set("delay", entry.delay)
        .set("since", entry.since)
        .set("client", entry.client)
        .update();
  }

  private void save(SqlConnection db, byte[] key, LockQueue record) throws SQLException {
    ClaimRow slot = record.slot();
    int others = record.others + record.inserted().size() - record.deleted().size();
    db.call(statements.saveName)
        .set("name", key)
        .set("last_number", record.lastNumber)
        .set("tail", record.tail)
        .set("others", others)
        .set("owner", slot == null ? null : slot.owner)
        .set("number", slot == null ? record.lastNumber : slot.number)
        .set("units", slot == null ? 0 : slot.units.taken())
        .set("capacity", slot == null ? 0 : slot.units.capacity())
        .set("ends", slot == null ? record.now : slot.ends)
        .set("term", slot == null ? 0 : slot.term)
        .set("delay", slot == null ? 0 : slot.delay)
        .set("since", slot == null ? 0 : slot.since)
        .set("client", slot == null ? NO_CLIENT : slot.client)
        .set("durable", record.mustLast() ? 1 : 0)
        .update();
  }
}
