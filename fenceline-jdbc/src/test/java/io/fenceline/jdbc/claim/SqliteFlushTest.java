package io.fenceline.jdbc.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.connection.SqliteConnections;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.schema.TableSetup;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.testkit.ManualTime;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which transactions SQLite flushes to the disk: that one did is not to be seen from outside. */
class SqliteFlushTest {
  private static final int NORMAL = 1;
  private static final int FULL = 2;

  @TempDir Path folder;

  @Test
  void releaseThatKeepsTheNameClosed_isFlushed_andNothingElseIs() throws Exception {
    Dialect dialect = new SqliteDialect();
    Statements statements = new Statements(dialect, Tables.DEFAULT);
    try (SqliteConnections connections =
        SqliteConnections.open(
            folder.resolve("flush.db").toString(), new ManualTime(), Duration.ofSeconds(20))) {
      new TableSetup(dialect, Tables.DEFAULT, statements, new Failures("test", dialect, List.of()))
          .check(connections, true);
      NameTransaction transactions =
          new NameTransaction(dialect, statements, (id, client) -> {}, () -> new byte[] {1});
      byte[] name = "name".getBytes(StandardCharsets.UTF_8);
      connections.use(
          Connections.Purpose.WORK,
          db -> db.call(statements.createName).set("name", name).update());
      for (boolean keeps : new boolean[] {false, true, false}) {
        int during =
            connections.use(
                Connections.Purpose.WORK,
                db ->
                    transactions.decide(
                        db, "name", new byte[0], keeps, record -> level(db.connection())));
        assertThat(during).isEqualTo(keeps ? FULL : NORMAL);
        int after = connections.use(Connections.Purpose.WORK, db -> level(db.connection()));
        assertThat(after).isEqualTo(NORMAL);
      }
    }
  }

  private static int level(Connection connection) {
    try (Statement statement = connection.createStatement();
        ResultSet level = statement.executeQuery("PRAGMA synchronous")) {
      level.next();
      return level.getInt(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }
}
