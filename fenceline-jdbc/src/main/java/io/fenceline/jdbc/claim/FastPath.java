package io.fenceline.jdbc.claim;

import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Micros;
import io.fenceline.jdbc.layout.Units;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.jdbc.waiting.ArmedBell;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Does with one statement what {@link NameTransaction} does with many: takes a name that is simply
 * free, joins the queue of one that is not, takes the turn of the first who waits, and gives a name
 * back. Whatever is not so simple is left to the transaction, as if nothing had been tried.
 */
public final class FastPath {
  /*
   * A name that was alone when it was last seen is tried with the barest statement there is
   * (claim-uncontended.sql, release-uncontended.sql), which handles neither new names, nor holders
   * whose time is over, nor waiters to be told. If it finds nothing, the statement that handles all
   * of these follows. How these statements could go wrong, and why they don't, is in their files and
   * in docs/design/0022.
   */
  private static final long NOT_FREE = -1;

  private final boolean isOn;
  private final Dialect dialect;
  private final Statements statements;
  private final String client;
  private final RecentNames quiet = new RecentNames();
  private final RecentNames crowded = new RecentNames();

  /**
   * For one store.
   *
   * @param isOn whether it is tried at all
   * @param client as the rows of its claims have it
   */
  public FastPath(boolean isOn, Dialect dialect, Statements statements, String client) {
    this.isOn = isOn;
    this.dialect = dialect;
    this.statements = statements;
    this.client = client;
  }

  // Claims. -------------------------------------------------------------------------------------

  /**
   * Answers a claim; null if the transaction has to.
   *
   * @param waits whether it is in the queue already
   * @param patience how long it stays there without being heard of
   * @param seen the largest number that the client has seen
   * @param watch learns whether the client's bell was armed when the claim joined a queue
   */
  @Nullable ClaimAnswer claim(
      SqlConnection db,
      ClaimRequest request,
      boolean waits,
      long patience,
      long seen,
      @Nullable ArmedBell watch)
      throws SQLException {
    if (!isOn) {
      return null;
    }
    if (waits) {
      return granted(takeTurn(db, request, seen), request);
    }
    // Of a name that had others when it was last seen here, the queue is tried first.
    boolean wasCrowded = crowded.has(request.name());
    Queued queued = wasCrowded ? enqueue(db, request, patience, watch) : null;
    if (queued == null) {
      ClaimAnswer granted = granted(take(db, request, seen), request);
      if (granted != null) {
        return granted;
      }
      queued = wasCrowded ? null : enqueue(db, request, patience, watch);
    }
    return queued != null && queued.isBehind ? new ClaimAnswer.Waiting(queued.holder) : null;
  }

  private static @Nullable ClaimAnswer granted(long number, ClaimRequest request) {
    return number == NOT_FREE ? null : new ClaimAnswer.Granted(number, request.lease());
  }

  /** Takes a free name; gives the grant number. */
  private long take(SqlConnection db, ClaimRequest request, long seen) throws SQLException {
    String name = request.name();
    long number = NOT_FREE;
    if (statements.claimUncontended != null && isPlain(request) && quiet.has(name)) {
      boolean asKey = dialect.takesNumberAsKey();
      number = run(db.call(statements.claimUncontended, asKey), asKey, request, seen);
    }
    if (number == NOT_FREE) {
      Units units = Units.of(request.mode());
      boolean asKey = dialect.returnsNumberAsKey();
      SqlConnection.Call call =
          db.call(statements.claim, asKey)
              .set("units", units.taken())
              .set("capacity", units.capacity())
              .set("delay", Micros.of(request.delay()));
      number = run(call, asKey, request, seen);
    }
    learn(name, number != NOT_FREE);
    return number;
  }

  /** What most claims are; the statement for them has less to be told. */
  private static boolean isPlain(ClaimRequest request) {
    return isExclusive(request) && request.delay().isZero();
  }

  private long run(SqlConnection.Call call, boolean asKey, ClaimRequest request, long seen)
      throws SQLException {
    call.set("name", key(request.name()))
        .set("owner", request.owner().bytes())
        .set("term", Micros.of(request.term()))
        .set("client", client)
        .set("seen", seen);
    Long number = asKey ? call.key() : call.row(row -> taken(row, request));
    return number == null ? NOT_FREE : number;
  }

  /** The number, if the row is ours: where a statement can't say so, it returns any row. */
  private long taken(ResultSet row, ClaimRequest request) throws SQLException {
    boolean ours =
        dialect.returnsUpdatedRows() || Arrays.equals(row.getBytes(2), request.owner().bytes());
    return ours ? row.getLong(1) : NOT_FREE;
  }

  /**
   * A claim that has joined a queue.
   *
   * @param holder who holds the name
   * @param isBehind whether the name is held, or someone who is alive waits before
   */
  private record Queued(Obstacle holder, boolean isBehind) {}

  /** Joins the queue of a name that is not free; null if it can't be done by one statement. */
  private @Nullable Queued enqueue(
      SqlConnection db, ClaimRequest request, long patience, @Nullable ArmedBell watch)
      throws SQLException {
    Sql enqueue = statements.enqueue;
    if (enqueue == null || !request.waits() || !isExclusive(request)) {
      return null;
    }
    if (dialect.hasTurnsOfSeveral()) {
      // The call has the time, which must be later than whoever wrote before.
      return transaction(
          db, () -> insert(db, request, patience, enqueued(db.call(enqueue), request)));
    }
    SqlConnection.Call call = db.call(enqueue);
    boolean hasBell = call.has("bell");
    if (hasBell) {
      call.set("bell", watch == null ? ArmedBell.NOBODYS : watch.mark());
    }
    call.set("term", patience).set("delay", Micros.of(request.delay())).set("client", client);
    return whole(db, () -> prepared(call, request).row(row -> queued(row, hasBell ? watch : null)));
  }

  private static SqlConnection.Call prepared(SqlConnection.Call call, ClaimRequest request)
      throws SQLException {
    return call.set("name", key(request.name())).set("owner", request.owner().bytes());
  }

  private static Queued queued(ResultSet row, @Nullable ArmedBell watch) throws SQLException {
    boolean isHeld = row.getInt("held") != 0;
    if (watch != null && row.getInt("armed") != 0) {
      watch.armed();
    }
    return new Queued(
        isHeld ? obstacle(row) : Obstacle.UNKNOWN, isHeld || row.getInt("before") != 0);
  }

  /**
   * Room at the end of a queue.
   *
   * @param queued what the claim is told that takes it
   */
  private record Room(long place, long now, Queued queued) {}

  private static @Nullable Room enqueued(SqlConnection.Call call, ClaimRequest request)
      throws SQLException {
    return prepared(call, request)
        .row(row -> new Room(row.getLong("place"), row.getLong("now"), queued(row, null)));
  }

  private @Nullable Queued insert(
      SqlConnection db, ClaimRequest request, long patience, @Nullable Room room)
      throws SQLException {
    if (room == null) {
      return null;
    }
    prepared(db.call(statements.insertClaim), request)
        .set("held", 0)
        .set("place", room.place)
        .set("number", 0)
        .set("units", Units.WHOLE)
        .set("capacity", Units.WHOLE)
        .set("ends", room.now + patience)
        .set("term", patience)
        .set("delay", Micros.of(request.delay()))
        .set("since", room.now)
        .set("client", client)
        .update();
    return room.queued;
  }

  private static Obstacle obstacle(ResultSet row) throws SQLException {
    return new Obstacle(
        ClaimRow.clientInfo(row.getString("client")).label(),
        row.getLong("number"),
        Duration.ofNanos(row.getLong("lasts") * 1_000));
  }

  /** Takes a free name for the first who waits for it; gives the grant number. */
  private long takeTurn(SqlConnection db, ClaimRequest request, long seen) throws SQLException {
    Sql turn = statements.turn;
    if (turn == null || !isExclusive(request)) {
      return NOT_FREE;
    }
    Statement<Long> taken =
        () ->
            prepared(db.call(turn), request)
                .set("term", Micros.of(request.term()))
                .set("seen", seen)
                .row(row -> row.getLong(1));
    Long number =
        dialect.hasTurnsOfSeveral()
            ? transaction(db, () -> outOfTheQueue(db, request, taken.run()))
            : whole(db, taken);
    return number == null ? NOT_FREE : number;
  }

  private @Nullable Long outOfTheQueue(
      SqlConnection db, ClaimRequest request, @Nullable Long number) throws SQLException {
    if (number != null) {
      db.call(statements.deleteClaim)
          .set("owner", request.owner().bytes())
          .set("read_ends", 0)
          .set("always", 1)
          .update();
    }
    return number;
  }

  @FunctionalInterface
  private interface Statement<T> {
    @Nullable T run() throws SQLException;
  }

  /** Runs a statement that may be a block with a transaction: none is left open by a failure. */
  private <T> @Nullable T whole(SqlConnection db, Statement<T> statement) throws SQLException {
    boolean ended = false;
    try {
      T result = statement.run();
      ended = true;
      return result;
    } finally {
      if (!ended && dialect.hasTransactionsInStatements()) {
        dialect.giveUp(db.connection());
      }
    }
  }

  /** Runs statements as one transaction, which changes nothing if they give nothing. */
  private <T> @Nullable T transaction(SqlConnection db, Statement<T> statements)
      throws SQLException {
    boolean ended = false;
    try {
      dialect.begin(db.connection());
      T result = statements.run();
      if (result == null) {
        dialect.rollback(db.connection());
      } else {
        dialect.commit(db.connection());
      }
      ended = true;
      return result;
    } finally {
      if (!ended) {
        dialect.giveUp(db.connection());
      }
    }
  }

  // Releases. -----------------------------------------------------------------------------------

  /**
   * A name that was given back.
   *
   * @param hasOthers whether anyone may wait for it
   * @param next the public id of the first who waits; null if that is not known
   * @param whose its client, if it is still to be told
   */
  record Freed(boolean hasOthers, @Nullable String next, @Nullable String whose) {
    private static final Freed ALONE = new Freed(false, null, null);
    private static final Freed PERHAPS_NOT_ALONE = new Freed(true, null, null);

    /** From a row that names the first who waits, if any. */
    private static Freed read(ResultSet row) throws SQLException {
      byte[] head = row.getBytes("head");
      return new Freed(
          row.getInt("others") > 0,
          head == null ? null : ClaimRow.idOf(head),
          head == null ? null : row.getString("whose"));
    }
  }

  /** Gives a name back that this owner holds; null if the transaction has to. */
  @Nullable Freed release(SqlConnection db, String name, byte[] owner) throws SQLException {
    if (!isOn) {
      return null;
    }
    if (statements.releaseUncontended != null && quiet.has(name)) {
      if (prepare(db, statements.releaseUncontended, name, owner).update() > 0) {
        return Freed.ALONE;
      }
    }
    SqlConnection.Call call = prepare(db, statements.release, name, owner);
    if (call.has("client")) {
      call.set("client", client);
    }
    if (statements.tellNext == null) {
      if (!dialect.namesNext()) {
        return call.update() == 0 ? null : Freed.PERHAPS_NOT_ALONE;
      }
      Freed found = whole(db, () -> call.row(Freed::read));
      if (statements.releaseUncontended != null || statements.turn != null) {
        learn(name, found != null && !found.hasOthers);
      }
      return found;
    }
    boolean[] fresh = new boolean[1];
    Freed freed =
        call.row(
            row -> {
              fresh[0] = row.getInt("fresh") != 0;
              return new Freed(row.getInt("others") > 0, row.getString("head"), null);
            });
    learn(name, freed != null && !freed.hasOthers);
    if (freed == null || !freed.hasOthers || fresh[0]) {
      return freed;
    }
    String next =
        db.call(statements.tellNext)
            .set("name", key(name))
            .row(row -> String.valueOf(row.getString("head")));
    return new Freed(true, next, null);
  }

  private static boolean isExclusive(ClaimRequest request) {
    return request.mode() instanceof Mode.Exclusive;
  }

  private static SqlConnection.Call prepare(
      SqlConnection db, Sql statement, String name, byte[] owner) throws SQLException {
    return db.call(statement).set("name", key(name)).set("owner", owner);
  }

  private void learn(String name, boolean isQuiet) {
    if (isQuiet) {
      quiet.add(name);
      crowded.remove(name);
    } else {
      quiet.remove(name);
      crowded.add(name);
    }
  }

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
