package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.ManualTime;
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
      new Format(dialect, Tables.DEFAULT, statements, new Errors("test", dialect, List.of()))
          .check(connections, true);
      NameTransaction transactions = new NameTransaction(dialect, statements, () -> new byte[] {1});
      for (boolean keeps : new boolean[] {false, true, false}) {
        int during =
            connections.use(
                Connections.Purpose.WORK,
                session ->
                    transactions
                        .run(
                            session,
                            "name",
                            new byte[0],
                            true,
                            keeps,
                            record -> level(session.connection()))
                        .answer());
        assertThat(during).isEqualTo(keeps ? FULL : NORMAL);
        int after =
            connections.use(Connections.Purpose.WORK, session -> level(session.connection()));
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
