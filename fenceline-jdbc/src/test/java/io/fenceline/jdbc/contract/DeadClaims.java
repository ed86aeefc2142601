package io.fenceline.jdbc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.sql.Dialect;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A name with many claims of processes that died: whoever asks for it removes them, a few hundred
 * at a time, whatever the answer is; the same for each database.
 */
public final class DeadClaims {
  /** More than are removed at once, and as many as are read at once, some times over. */
  static final int MANY = 163 * Dialect.FRONT;

  private static final String OWN = "dead";

  private static final LockOptions LONG = LockOptions.defaults().lease(Duration.ofSeconds(60));

  private DeadClaims() {}

  public static void check(String url, Connection connection) throws SQLException {
    // In tables of its own: MariaDB locks what is beside a row, too, for as long as this takes.
    JdbcStores own = JdbcStores.at(url).tablePrefix(OWN);
    try (Fenceline fenceline = Fenceline.builder().store(own).defaultOptions(LONG).connect();
        Fenceline other = Fenceline.builder().store(own).defaultOptions(LONG).connect()) {
      Hold hold = fenceline.lock("dead-waiters").tryAcquire().orElseThrow();
      plant(connection, OWN, "dead-waiters", 0, 1L << 31);
      assertThat(other.lock("dead-waiters").tryAcquire()).isEmpty();
      assertThat(left(connection, OWN, "dead-waiters")).isZero();
      assertThat(fenceline.inspect("dead-waiters").holders()).hasSize(1);
      hold.release();

      plant(connection, OWN, "dead-waiters", 0, 1L << 31);
      other.lock("dead-waiters").tryAcquire().orElseThrow().release();
      assertThat(left(connection, OWN, "dead-waiters")).isZero();

      // A semaphore whose holders are all gone.
      fenceline.semaphore("dead-holders", MANY).tryAcquire().orElseThrow().release();
      plant(connection, OWN, "dead-holders", 1, MANY);
      other.semaphore("dead-holders", MANY).tryAcquire().orElseThrow().release();
      assertThat(left(connection, OWN, "dead-holders")).isZero();
    }
  }

  /**
   * In one transaction that has the name's row first: a sweep finds all of them counted, or none.
   */
  public static void plant(
      Connection connection, String tables, String name, int held, long capacity)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      insert(connection, tables, name, held, capacity);
      connection.commit();
    } finally {
      connection.setAutoCommit(true);
    }
  }

  private static void insert(
      Connection connection, String tables, String name, int held, long capacity)
      throws SQLException {
    byte[] key = name.getBytes(StandardCharsets.UTF_8);
    try (PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO "
                    + tables
                    + "_claims (owner, name, held, place, number, units, capacity,"
                    + " ends, term, delay, since, client)"
                    + " VALUES (?, ?, ?, ?, 1, ?, ?, 1000, 1000, 0, 0, '1@host died')");
        PreparedStatement count =
            connection.prepareStatement(
                "UPDATE " + tables + "_locks SET others = ? WHERE name = ?")) {
      count.setInt(1, MANY);
      count.setBytes(2, key);
      assertThat(count.executeUpdate()).isEqualTo(1);
      for (int i = 0; i < MANY; i++) {
        insert.setBytes(1, "%-8.8s%08d".formatted(name + held, i).getBytes(StandardCharsets.UTF_8));
        insert.setBytes(2, key);
        insert.setInt(3, held);
        insert.setLong(4, held == 1 ? 0 : i + 1);
        insert.setLong(5, held == 1 ? 1 : capacity);
        insert.setLong(6, capacity);
        insert.addBatch();
      }
      insert.executeBatch();
    }
  }

  /** Rows and what is said of their number. */
  static int left(Connection connection, String tables, String name) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT l.others + (SELECT count(*) FROM %1$s_claims AS c WHERE c.name = l.name) FROM %1$s_locks AS l WHERE l.name = ?"
                .formatted(tables))) {
      query.setBytes(1, name.getBytes(StandardCharsets.UTF_8));
      try (ResultSet row = query.executeQuery()) {
        assertThat(row.next()).isTrue();
        return row.getInt(1);
      }
    }
  }
}
