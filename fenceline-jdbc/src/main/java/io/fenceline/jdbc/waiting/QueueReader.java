package io.fenceline.jdbc.waiting;

import io.fenceline.jdbc.connection.Requests;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.spi.Owner;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** Reads the queues of names, and says for those who wait that they are alive. */
final class QueueReader implements QueuePoller.Queues {
  private final Requests requests;
  private final Statements statements;

  QueueReader(Requests requests, Statements statements) {
    this.requests = requests;
    this.statements = statements;
  }

  @Override
  public long changes() {
    return requests.changes();
  }

  @Override
  public QueuePoller.Turn turn(List<String> names) {
    Found found = new Found();
    requests.look(
        "A look at the queues failed",
        db -> {
          for (List<byte[]> part : Sql.parts(names, QueueReader::key)) {
            db.call(statements.lookForTurns, part.size()).set("names", part).rows(found::addTurn);
          }
          return found;
        });
    return found.turn();
  }

  @Override
  public QueuePoller.Signs beat(List<Owner> owners, List<String> names) {
    Sql both = statements.beatAndLook;
    if (both != null && owners.size() <= Sql.LONGEST_LIST && !names.isEmpty()) {
      return beatAndLook(both, owners, names);
    }
    Set<Owner> alive =
        requests.look("A sign of life of those who wait failed", db -> beat(db, owners));
    return new QueuePoller.Signs(alive, turn(names));
  }

  private QueuePoller.Signs beatAndLook(Sql both, List<Owner> owners, List<String> names) {
    Found found = new Found();
    requests.look(
        "A sign of life of those who wait failed",
        db ->
            db.call(both, Math.max(owners.size(), names.size()))
                .set("owners", owners.stream().map(Owner::bytes).toList())
                .set("names", names.stream().map(QueueReader::key).toList())
                .rows(row -> row.getInt("alive") != 0 ? found.addAlive(row) : found.addTurn(row)));
    return new QueuePoller.Signs(found.alive, found.turn());
  }

  /** Those who are still in a queue; who they are is only asked if someone is not. */
  private Set<Owner> beat(SqlConnection db, List<Owner> owners) throws SQLException {
    Set<Owner> alive = new HashSet<>();
    for (List<byte[]> part : Sql.parts(owners, Owner::bytes)) {
      int found = db.call(statements.beat, part.size()).set("owners", part).update();
      if (found == part.size()) {
        part.forEach(one -> alive.add(owner(one)));
      } else {
        db.call(statements.poll, part.size())
            .set("owners", part)
            .rows(row -> alive.add(owner(row.getBytes(1))));
      }
    }
    return alive;
  }

  /** What rows of a look say. */
  private static final class Found {
    final Set<Owner> alive = new HashSet<>();
    private final List<Owner> first = new ArrayList<>();
    private long microsUntilEnd = Long.MAX_VALUE;

    boolean addAlive(ResultSet row) throws SQLException {
      return alive.add(owner(row.getBytes("owner")));
    }

    /** Adds who should ask, if anyone, and when the next end is. */
    boolean addTurn(ResultSet row) throws SQLException {
      byte[] owner = row.getBytes("owner");
      if (owner != null) {
        first.add(owner(owner));
      }
      long now = row.getLong("now");
      for (String column : List.of("row_ends", "head_ends", "claim_ends")) {
        long end = row.getLong(column);
        if (!row.wasNull()) {
          microsUntilEnd = Math.min(microsUntilEnd, Math.max(0, end - now));
        }
      }
      return owner != null;
    }

    QueuePoller.Turn turn() {
      boolean hasEnd = microsUntilEnd != Long.MAX_VALUE;
      return new QueuePoller.Turn(first, hasEnd ? microsUntilEnd * 1_000 : Long.MAX_VALUE);
    }
  }

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  private static Owner owner(byte[] bytes) {
    return Owner.ofSecret(HexFormat.of().formatHex(bytes));
  }
}
