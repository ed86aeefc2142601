package io.fenceline.recipes.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.recipes.once.SqlRecords;
import io.fenceline.testkit.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

/** Instances of a service that start at the same moment, beside one that writes. */
class BusySqliteTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  /** So many looks in a row at the same native call: it waits there. */
  private static final int PATIENT = 10;

  @TempDir Path folder;

  @Test
  void createTable_waitsForAnotherWriter() throws Exception {
    SQLiteDataSource data = new SQLiteDataSource();
    data.setUrl(
        "jdbc:sqlite:" + folder.resolve("data.db") + "?journal_mode=WAL&busy_timeout=60000");
    FutureTask<Void> creating =
        new FutureTask<>(
            () -> {
              SqlRecords.over(data).createTable();
              return null;
            });
    Thread starting = new Thread(creating);
    try (Connection other = data.getConnection();
        Statement statement = other.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      starting.start();
      int[] looks = new int[1];
      Eventually.until(
          BOUND,
          "the call to wait in SQLite",
          () -> {
            looks[0] = isInSqlite(starting) ? looks[0] + 1 : 0;
            return looks[0] == PATIENT || creating.isDone();
          });
      assertThat(creating).as("ended though another one writes").isNotDone();
      statement.execute("COMMIT");
    }
    creating.get();
    starting.join();

    try (Connection connection = data.getConnection();
        Statement statement = connection.createStatement()) {
      assertThat(statement.executeQuery("SELECT count(*) FROM fenceline_once").getInt(1))
          .as("the row of the version")
          .isEqualTo(1);
    }
  }

  private static boolean isInSqlite(Thread thread) {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0 && stack[0].getClassName().equals("org.sqlite.core.NativeDB");
  }
}
