package io.fenceline.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * PostgreSQL's session advisory locks: a connection for each holder and each waiter, nothing on
 * disk, no lease, no token.
 */
final class AdvisoryLocks implements Contender {
  /** Whoever waits keeps a connection. */
  private static final int SIZE = 33;

  private final HikariDataSource pool;

  AdvisoryLocks(String address) {
    this.pool = Database.pool(address, SIZE);
  }

  @Override
  public Cycle on(String name) {
    long key = name.hashCode();
    return section -> {
      try (Connection connection = pool.getConnection()) {
        call(connection, "SELECT pg_advisory_lock(?)", key);
        try {
          section.run(0);
        } finally {
          call(connection, "SELECT pg_advisory_unlock(?)", key);
        }
      }
    };
  }

  private static void call(Connection connection, String text, long key) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      statement.setLong(1, key);
      statement.execute();
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
