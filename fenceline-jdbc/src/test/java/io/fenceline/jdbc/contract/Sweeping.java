package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.jdbc.Heard;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testkit.ManualTime;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;

/** What a sweep removes, and what is remembered of it; the same for each database. */
public final class Sweeping {
  private static final Duration LEASE = Duration.ofSeconds(20);

  /** More than a sweep takes at once. */
  private static final int NAMES = 1_700;

  private Sweeping() {}

  /**
   * That a name which was forgotten does not get a smaller number when the clock is set back.
   *
   * @param clock sets how far the database's clock is ahead
   */
  public static void checkNumbers(String url, Consumer<Duration> clock) {
    long number;
    try (LockStore store = Heard.open(url, new ManualTime())) {
      HeldGrant old = new Heard(store, "forgotten", Mode.EXCLUSIVE, LEASE).grant();
      number = old.number();
      store.release(new ReleaseRequest(old, Duration.ZERO)).join();
      HeldGrant second = new Heard(store, "forgotten-too", Mode.EXCLUSIVE, LEASE).grant();
      store.release(new ReleaseRequest(second, Duration.ZERO)).join();
    }
    // Clients that have never seen the number.
    clock.accept(Duration.ofHours(30));
    try (LockStore sweeper = Heard.open(url, new ManualTime())) {
      assertThat(Heard.clean(sweeper)).isGreaterThanOrEqualTo(2);
    }
    clock.accept(Duration.ofHours(-1));
    try (LockStore fresh = Heard.open(url, new ManualTime())) {
      HeldGrant next = new Heard(fresh, "forgotten", Mode.EXCLUSIVE, LEASE).grant();
      assertThat(next.number()).isGreaterThan(number);
      fresh.release(new ReleaseRequest(next, Duration.ZERO)).join();
      // By the long way, too: two of one family.
      Heard reader = new Heard(fresh, "forgotten-too", Mode.SHARED, LEASE);
      assertThat(reader.grant().number()).isGreaterThan(number);
    }
  }

  /** That one sweep removes all that is old, however much it is, and nothing else. */
  public static void checkAmount(String url, Connection connection) throws SQLException {
    try (LockStore store = Heard.open(url, new ManualTime())) {
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO fenceline_locks (name, last_number, tail, others, owner, number, units,"
                  + " capacity, ends, term, delay, since, client)"
                  + " VALUES (?, 5, 0, 0, NULL, 5, 0, 0, 1000, 0, 0, 0, '')")) {
        for (int i = 0; i < NAMES; i++) {
          insert.setBytes(1, ("swept-" + i).getBytes(StandardCharsets.UTF_8));
          insert.addBatch();
        }
        insert.executeBatch();
      }
      HeldGrant held = new Heard(store, "not-swept", Mode.EXCLUSIVE, LEASE).grant();

      // Clients of other tests sweep, too, and whoever meets locked rows leaves them for the next
      // time.
      int sweeps = 0;
      while (rows(connection, "ends = 1000") > 0) {
        assertThat(++sweeps).isLessThanOrEqualTo(3); // A bound of 500 names a sweep needs four.
        Heard.clean(store);
      }
      assertThat(store.inspect("not-swept").join().holders()).hasSize(1);
      store.release(new ReleaseRequest(held, Duration.ZERO)).join();
    }
  }

  public static void checkAmount(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url)) {
      checkAmount(url, connection);
    }
  }

  private static int rows(Connection connection, String where) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery("SELECT count(*) FROM fenceline_locks WHERE " + where)) {
      found.next();
      return found.getInt(1);
    }
  }
}
