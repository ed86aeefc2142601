package io.fenceline.jdbc.connection;

import static io.fenceline.testbed.contract.ErrorText.refused;
import static io.fenceline.testbed.contract.ErrorText.unavailable;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.testbed.contract.ErrorText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each fault has one line that says what happened and what to do; a refusal ends a wait at once.
 */
@SuppressWarnings("MustBeClosedChecker") // What fails is not there to be closed.
class SqliteErrorTextTest {
  @TempDir static Path folder;

  private static Fenceline connect(Path file) {
    return Fenceline.builder()
        .store("sqlite:" + file)
        .operationTimeout(Duration.ofSeconds(3))
        .connect();
  }

  private static void sql(Path file, String... statements) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  static List<ErrorText> rows() {
    return List.of(
        refused(
            "not a database",
            "The file can't be used for locks: the file is not an SQLite database; use another one [*] (store=sqlite:*/text.db)",
            () -> {
              Path file = folder.resolve("text.db");
              Files.writeString(file, "hello, this is some text and not a database at all");
              connect(file);
            }),
        refused(
            "folder",
            "The file can't be used for locks: it is a folder; name a file in it (store=sqlite:*)",
            () -> connect(Files.createDirectory(folder.resolve("folder.db")))),
        refused(
            "no folder",
            "The file can't be used for locks: * is not a folder (store=sqlite:*)",
            () -> {
              Path file = Files.writeString(folder.resolve("file"), "text");
              connect(file.resolve("locks.db"));
            }),
        refused(
            "table that is not ours",
            "The database can't be used for locks: the table fenceline_format is not Fenceline's; use other tables, or drop it (*) (store=sqlite:*)",
            () -> {
              Path file = folder.resolve("other.db");
              sql(file, "CREATE TABLE fenceline_format (a TEXT)");
              connect(file);
            }),
        refused(
            "disk full",
            "A claim of lock 'ledger' failed: the disk is full; free space there [[SQLITE_FULL]*] (store=sqlite:file)",
            SqliteErrorTextTest::fill),
        unavailable(
            "file kept locked by another process",
            "A claim of lock 'ledger' failed: another process has kept the file locked for too long* (store=sqlite:*)",
            () -> {
              Path file = folder.resolve("busy.db");
              try (Fenceline client = connect(file);
                  Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
                  Statement statement = other.createStatement()) {
                statement.execute("BEGIN IMMEDIATE");
                assertThat(client.lock("ledger").tryAcquire()).isEmpty();
              }
            }));
  }

  /** Each connection has its own limit, so that the store's own can't be made to meet one. */
  private static void fill() throws Exception {
    Path file = folder.resolve("full.db");
    try {
      sql(file, "PRAGMA max_page_count = 1", "CREATE TABLE a (b)", "CREATE TABLE c (d)");
    } catch (SQLException e) {
      throw new Failures("sqlite:file", new SqliteDialect(), List.of())
          .of("A claim of lock 'ledger' failed", e);
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void fault_isNamed(ErrorText row) {
    row.check("c4n4ry");
  }
}
