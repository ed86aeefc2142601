package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqliteDialect;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a connection waits for another one that writes to the file. */
class SqlitePatienceTest {
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Short steps at first, and then of ten milliseconds; without any, there are a million. */
  private static final int MOST_TRIES_A_SECOND = 1_000;

  private static final String WRITE = "BEGIN IMMEDIATE";

  @TempDir Path folder;

  private Connection open() throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("file.db"));
  }

  @Test
  void withoutTime_itDoesNotWait() throws Exception {
    try (Connection writer = open();
        Connection other = open()) {
      SqlitePatience.of(other);
      Dialect.run(writer, WRITE);

      assertThatThrownBy(() -> Dialect.run(other, WRITE))
          .isInstanceOfSatisfying(
              SQLException.class, e -> assertThat(SqliteDialect.isBusy(e)).isTrue());
    }
  }

  /** An interrupt that is kept must not turn waiting into asking without a pause. */
  @Test
  @Timeout(60)
  void whileItMayWait_itAsksAgain_andKeepsAnInterrupt() throws Exception {
    SqlitePatience patience;
    try (Connection other = open()) {
      patience = SqlitePatience.of(other);
      patience.atMost(SECOND_NANOS);
      Thread.currentThread().interrupt();
      int tries = 0;
      while (patience.callback(tries) != 0) {
        tries++;
      }
      assertThat(tries).isBetween(1, MOST_TRIES_A_SECOND);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  /** The writer ends when it has been asked for so often that it is being waited for. */
  @Test
  @Timeout(60)
  void onceTheWriterHasEnded_itGoesOn() throws Exception {
    try (Connection writer = open();
        Connection other = open()) {
      SqlitePatience.of(other).atMost(MINUTE_NANOS);
      Dialect.run(writer, WRITE);
      Thread waiting =
          new Thread(
              () -> {
                try {
                  Dialect.run(other, WRITE);
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      waiting.start();
      while (waiting.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      Dialect.run(writer, "COMMIT");
      waiting.join();
      assertThatThrownBy(() -> Dialect.run(writer, WRITE))
          .as("the other one writes now")
          .isInstanceOf(SQLException.class);
    }
  }
}
