package io.fenceline.jdbc;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The short way: takes a name that is simply free by one statement, and gives it back by one.
 *
 * <p>Where the database can update and return what it wrote, a name that was alone when it was last
 * seen is tried with the barest statement there is, which knows neither of new names, nor of
 * holders whose time is over, nor of waiters to be told. If that finds nothing, the statement that
 * knows of all that follows, as if nothing had been tried.
 */
final class ShortWay {
  static final long NOT_FREE = -1;

  private final Dialect dialect;
  private final Statements statements;
  private final String client;
  private final QuietNames quiet = new QuietNames();

  ShortWay(Dialect dialect, Statements statements, String client) {
    this.dialect = dialect;
    this.statements = statements;
    this.client = client;
  }

  /** The grant number, or {@link #NOT_FREE}. */
  long take(Session session, ClaimRequest request, long seen) throws SQLException {
    String name = request.name();
    long number = NOT_FREE;
    if (statements.take != null && isPlain(request) && quiet.has(name)) {
      number = run(session.call(statements.take), request, seen);
    }
    if (number == NOT_FREE) {
      Units units = Units.of(request.mode());
      Session.Call call =
          session
              .call(statements.claim, dialect.returnsNumberAsKey())
              .set("units", units.taken())
              .set("capacity", units.capacity())
              .set("delay", NameRecord.micros(request.delay()));
      number = run(call, request, seen);
    }
    learn(name, number != NOT_FREE);
    return number;
  }

  /** What most claims are; the statement for them has less to be told. */
  private static boolean isPlain(ClaimRequest request) {
    return request.mode() instanceof Mode.Exclusive && request.delay().isZero();
  }

  private long run(Session.Call call, ClaimRequest request, long seen) throws SQLException {
    call.set("name", key(request.name()))
        .set("owner", request.owner().bytes())
        .set("term", NameRecord.micros(request.term()))
        .set("client", client)
        .set("seen", seen);
    Long number = dialect.returnsNumberAsKey() ? call.key() : call.row(row -> taken(row, request));
    return number == null ? NOT_FREE : number;
  }

  /** The number, if the row is ours: where a statement can't say so, it returns any row. */
  private long taken(ResultSet row, ClaimRequest request) throws SQLException {
    boolean ours =
        dialect.returnsUpdatedRows() || Arrays.equals(row.getBytes(2), request.owner().bytes());
    return ours ? row.getLong(1) : NOT_FREE;
  }

  /** How many others there may be, if the name was this owner's and is free now. */
  @Nullable Integer giveBack(Session session, String name, byte[] owner) throws SQLException {
    if (statements.giveBack != null && quiet.has(name)) {
      if (prepare(session, statements.giveBack, name, owner).update() > 0) {
        return 0;
      }
    }
    Session.Call call = prepare(session, statements.release, name, owner);
    if (!dialect.tells()) {
      return call.update() == 0 ? null : Integer.valueOf(1);
    }
    Integer others = call.row(row -> row.getInt(1));
    learn(name, others != null && others == 0);
    return others;
  }

  private static Session.Call prepare(Session session, Sql statement, String name, byte[] owner)
      throws SQLException {
    return session.call(statement).set("name", key(name)).set("owner", owner);
  }

  private void learn(String name, boolean isQuiet) {
    if (isQuiet) {
      quiet.add(name);
    } else {
      quiet.remove(name);
    }
  }

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
