package io.fenceline.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.spi.StoreContext;
import java.time.Duration;
import java.util.Properties;

/** Our own pools for a URL: one for work, and one of a single connection for renewals. */
final class Pools {
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(250);

  /**
   * A client that stops in the middle of a transaction keeps a name's row locked no longer. MySQL,
   * for which the setting is a comment, has none. PostgreSQL is told in each transaction.
   */
  private static final String END_IDLE_TRANSACTIONS =
      "SET @fenceline = 0 /*M!100300 , SESSION idle_transaction_timeout = 2 */";

  private Pools() {}

  static DataSourceConnections open(
      String url, boolean isPostgres, int size, StoreContext context) {
    HikariDataSource work = pool("fenceline", url, isPostgres, size, context);
    try {
      HikariDataSource renewals = pool("fenceline-renewals", url, isPostgres, 1, context);
      return new DataSourceConnections(
          work,
          renewals,
          false,
          context.operationTimeout(),
          () -> {
            work.close();
            renewals.close();
          });
    } catch (RuntimeException e) {
      work.close();
      throw e;
    }
  }

  private static HikariDataSource pool(
      String name, String url, boolean isPostgres, int size, StoreContext context) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    Duration wait = atLeast(context.operationTimeout());
    config.setConnectionTimeout(wait.toMillis());
    config.setValidationTimeout(Math.min(wait.toMillis(), 1_000));
    config.setInitializationFailTimeout(context.connectTimeout().toMillis());
    properties(isPostgres, context)
        .forEach((key, value) -> config.addDataSourceProperty(key.toString(), value));
    if (!isPostgres) {
      config.setConnectionInitSql(END_IDLE_TRANSACTIONS);
    }
    return new HikariDataSource(config);
  }

  private static Duration atLeast(Duration timeout) {
    return timeout.compareTo(SHORTEST_TIMEOUT) < 0 ? SHORTEST_TIMEOUT : timeout;
  }

  /** What we need of a connection; what the URL says itself goes before. */
  static Properties properties(boolean isPostgres, StoreContext context) {
    long operation = atLeast(context.operationTimeout()).toMillis();
    long connect = atLeast(context.connectTimeout()).toMillis();
    Properties properties = new Properties();
    if (isPostgres) {
      properties.setProperty("socketTimeout", Long.toString(seconds(operation)));
      properties.setProperty("connectTimeout", Long.toString(seconds(connect)));
      properties.setProperty("tcpKeepAlive", "true");
      properties.setProperty("ApplicationName", "fenceline");
    } else {
      properties.setProperty("socketTimeout", Long.toString(operation));
      properties.setProperty("connectTimeout", Long.toString(connect));
    }
    return properties;
  }

  private static long seconds(long millis) {
    return (millis + 999) / 1_000;
  }
}
