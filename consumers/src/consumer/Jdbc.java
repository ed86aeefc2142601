package consumer;

import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.FencingToken;
import io.fenceline.jdbc.JdbcFence;
import java.sql.Connection;

final class Jdbc implements Main.Guarded {
  private final HikariDataSource pool = new HikariDataSource();
  private final JdbcFence fence = JdbcFence.create().tablePrefix("consumer_");

  Jdbc(String uri) throws Exception {
    pool.setJdbcUrl(uri.startsWith("sqlite:") ? "jdbc:" + uri : uri);
    try (Connection connection = pool.getConnection()) {
      fence.createTable(connection);
    }
  }

  @Override
  public void write(FencingToken token) throws Exception {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try {
        fence.check(connection, "resource-" + ProcessHandle.current().pid(), token);
        connection.commit();
      } finally {
        connection.rollback();
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
