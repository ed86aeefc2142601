package io.fenceline.jdbc.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreContext;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;

/**
 * Our own pools for a URL: one for work, and one for renewals, which mostly has a single connection
 * and more only while rows are locked.
 */
public final class Pools {
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(250);
  private static final Duration PAUSE = Duration.ofMillis(100);

  /**
   * A client that stops in the middle of a transaction keeps a name's row locked no longer, and
   * nobody waits for a row for longer than its client waits for the answer. PostgreSQL is told in
   * each transaction, and so is MySQL, for which the second setting is a comment.
   */
  private static String bounds(Duration operationTimeout) {
    long seconds = Math.max(1, operationTimeout.toSeconds() - 1);
    return "SET SESSION innodb_lock_wait_timeout = "
        + seconds
        + " /*M!100300 , SESSION idle_transaction_timeout = 1 */";
  }

  private Pools() {}

  /**
   * Reaches the server once, before there are pools, which would try again until the time is over
   * also where that is vain, and take longer than that.
   *
   * @return whether a pooler stands before the server
   * @throws SQLException the last one, if there is no connection within the connect timeout
   */
  private static boolean reach(
      JdbcUrl url, Dialect dialect, boolean isPostgres, StoreContext context) throws SQLException {
    long end = System.nanoTime() + context.connectTimeout().toNanos();
    while (true) {
      Duration left = Duration.ofNanos(end - System.nanoTime());
      Properties properties = properties(url, isPostgres, context, left);
      if (isPostgres) {
        properties.setProperty("loginTimeout", Long.toString(seconds(left.toMillis())));
      }
      try (Connection once = url.source(properties, 0).getConnection()) {
        return isPostgres && PostgresPooler.isBetween(once);
      } catch (SQLException e) {
        boolean over = end - System.nanoTime() < 2 * PAUSE.toNanos();
        if (dialect.isRefusal(e) || over) {
          throw e;
        }
      }
      LockSupport.parkNanos(PAUSE.toNanos());
      if (Thread.currentThread().isInterrupted()) {
        throw new SQLException("interrupted while connecting");
      }
    }
  }

  /**
   * What was opened.
   *
   * @param isPooled whether a pooler stands before the server
   */
  public record Opened(DataSourceConnections connections, boolean isPooled) {}

  public static Opened open(
      JdbcUrl url, Dialect dialect, boolean isPostgres, int size, StoreContext context)
      throws SQLException {
    long end = System.nanoTime() + context.connectTimeout().toNanos();
    boolean isPooled = reach(url, dialect, isPostgres, context);
    long left = Math.max(1_000, (end - System.nanoTime()) / 1_000_000);
    HikariDataSource work = pool("fenceline", url, isPostgres, isPooled, size, left, context);
    try {
      HikariDataSource renewals =
          pool(
              "fenceline-renewals",
              url,
              isPostgres,
              isPooled,
              1 + RenewalThreads.THREADS,
              left,
              context);
      DataSourceConnections connections =
          new DataSourceConnections(
              work,
              renewals,
              false,
              canCutOff(url),
              size,
              context.operationTimeout(),
              () -> {
                work.close();
                renewals.close();
              });
      return new Opened(connections, isPooled);
    } catch (RuntimeException e) {
      work.close();
      throw e;
    }
  }

  private static HikariDataSource pool(
      String name,
      JdbcUrl url,
      boolean isPostgres,
      boolean isPooled,
      int size,
      long connectMillis,
      StoreContext context) {
    HikariConfig config = new HikariConfig();
    config.setPoolName(name);
    boolean inSeconds = isPostgres && !url.sets("socketTimeout");
    int answerMillis = inSeconds ? (int) atLeast(context.operationTimeout()).toMillis() : 0;
    Properties properties = properties(url, isPostgres, context);
    if (isPooled && !url.sets("prepareThreshold")) {
      properties.setProperty("prepareThreshold", "0");
    }
    config.setDataSource(url.source(properties, answerMillis));
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    Duration wait = atLeast(context.operationTimeout());
    config.setConnectionTimeout(borrowTime(context.operationTimeout()).toMillis());
    config.setValidationTimeout(Math.min(wait.toMillis(), 1_000));
    config.setInitializationFailTimeout(connectMillis);
    if (!isPostgres) {
      config.setConnectionInitSql(bounds(context.operationTimeout()));
    }
    return new HikariDataSource(config);
  }

  /** Less than whoever asks waits for, so that the reason is heard. */
  static Duration borrowTime(Duration operationTimeout) {
    return atLeast(Duration.ofMillis(operationTimeout.toMillis() * 3 / 4));
  }

  private static Duration least(Duration timeout, Duration most) {
    return timeout.compareTo(most) < 0 ? timeout : most;
  }

  private static Duration atLeast(Duration timeout) {
    return timeout.compareTo(SHORTEST_TIMEOUT) < 0 ? SHORTEST_TIMEOUT : timeout;
  }

  /** What we need of a connection; what the URL says itself goes before. */
  public static Properties properties(JdbcUrl url, boolean isPostgres, StoreContext context) {
    return properties(url, isPostgres, context, Durations.LONGEST);
  }

  private static Properties properties(
      JdbcUrl url, boolean isPostgres, StoreContext context, Duration most) {
    long operation = atLeast(least(context.operationTimeout(), most)).toMillis();
    long connect = atLeast(least(context.connectTimeout(), most)).toMillis();
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
    if (url.url().startsWith("jdbc:mysql:")) {
      // Otherwise its driver reads each statement letter by letter, each time.
      properties.setProperty("cachePrepStmts", "true");
      properties.setProperty("prepStmtCacheSqlLimit", "8192");
    }
    if (canBound(url.url())) {
      properties.setProperty("socketFactory", BoundedSockets.class.getName());
      if (isPostgres) {
        // A row says how long it is, and the driver makes room for it before it has come.
        properties.setProperty("maxResultBuffer", Long.toString(BoundedSockets.MOST_BYTES));
      }
    }
    return properties;
  }

  /**
   * Whether the driver can find our sockets: it may have been loaded by another class loader, which
   * does not see them, or be in a module that may not. MySQL's own driver wants something else by
   * that name.
   */
  private static boolean canBound(String url) {
    if (url.startsWith("jdbc:mysql:")) {
      return false;
    }
    try {
      Class<?> driver = DriverManager.getDriver(url).getClass();
      Class<?> ours = BoundedSockets.class;
      return Class.forName(ours.getName(), false, driver.getClassLoader()) == ours
          && ours.getModule().isExported(ours.getPackageName(), driver.getModule());
    } catch (SQLException | ClassNotFoundException e) {
      return false;
    }
  }

  /** Whether all connections have our sockets. */
  private static boolean canCutOff(JdbcUrl url) {
    return canBound(url.url())
        && !url.sets("socketFactory")
        && !url.sets("localSocket")
        && !url.sets("pipe");
  }

  private static long seconds(long millis) {
    return (millis + 999) / 1_000;
  }
}
