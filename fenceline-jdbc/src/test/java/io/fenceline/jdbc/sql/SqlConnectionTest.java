package io.fenceline.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.jdbc.layout.Tables;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of statements that are kept. */
class SqlConnectionTest {
  private static final Dialect DIALECT = new SqliteDialect();

  private final Statements statements = new Statements(DIALECT, Tables.DEFAULT);

  @TempDir Path folder;

  /** SQLite's driver ends a statement that fails like this, and would refuse it from then on. */
  @Test
  void keptStatementThatHasFailed_canBeUsedAgain() throws Exception {
    try (Connection connection =
        DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("full.db"))) {
      for (String statement : DIALECT.schema(Tables.DEFAULT)) {
        Dialect.run(connection, statement);
      }
      SqlConnection db = new SqlConnection(connection, null, true);
      Dialect.run(connection, "PRAGMA max_page_count = 1"); // As on a disk that is full.
      assertThatThrownBy(() -> insert(db))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("SQLITE_FULL");

      Dialect.run(connection, "PRAGMA max_page_count = 1000000");

      assertThat(insert(db)).isOne();
    }
  }

  /** Too long for the pages that there are. */
  private int insert(SqlConnection db) throws SQLException {
    SqlConnection.Call call = db.call(statements.insertClaim);
    for (String number :
        new String[] {
          "held", "place", "number", "units", "capacity", "ends", "term", "delay", "since"
        }) {
      call.set(number, 0);
    }
    return call.set("owner", new byte[16])
        .set("name", new byte[100_000])
        .set("client", "1@host test")
        .update();
  }
}
