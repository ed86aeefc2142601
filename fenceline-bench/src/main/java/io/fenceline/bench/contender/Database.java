package io.fenceline.bench.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Pools for the contenders that want a data source. */
final class Database {
  /** As many as Fenceline's own pool has. */
  static final int USUAL_SIZE = 16;

  private Database() {}

  static HikariDataSource pool(String address, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(address);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }

  /** Makes a table; several processes may do so at the same time. */
  static void create(HikariDataSource pool, String table) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      create(connection, table);
    }
  }

  static void create(Connection connection, String table) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (!"PostgreSQL".equals(connection.getMetaData().getDatabaseProductName())) {
        statement.execute("CREATE TABLE IF NOT EXISTS " + table);
        return;
      }
      // Here, "if not exists" alone fails when another does so at the same moment.
      statement.execute("SELECT pg_advisory_lock(0)");
      try {
        statement.execute("CREATE TABLE IF NOT EXISTS " + table);
      } finally {
        statement.execute("SELECT pg_advisory_unlock(0)");
      }
    }
  }
}
