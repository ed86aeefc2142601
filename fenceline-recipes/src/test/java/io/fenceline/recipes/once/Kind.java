package io.fenceline.recipes.once;

import io.fenceline.recipes.TestStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Every kind of records, on a real server where it has one. */
enum Kind {
  MEMORY,
  SQLITE,
  /** For an effect that is elsewhere. */
  SQLITE_APART,
  POSTGRESQL,
  MARIADB,
  REDIS,
  VALKEY,
  REDIS_SENTINEL,
  REDIS_CLUSTER;

  private static final java.util.Map<Kind, OnceRecords<?>> OPEN =
      new java.util.EnumMap<>(Kind.class);

  boolean isSql() {
    return this == SQLITE || this == POSTGRESQL || this == MARIADB;
  }

  /** Records, the same ones each time. */
  @SuppressWarnings("unchecked")
  OnceRecords<Work> records() {
    synchronized (OPEN) {
      // What a worker is told in SQL is a Work, too.
      return (OnceRecords<Work>) OPEN.computeIfAbsent(this, Kind::open);
    }
  }

  private OnceRecords<?> open() {
    return switch (this) {
      case MEMORY -> MemoryRecords.create();
      case REDIS -> redis(TestStore.REDIS.uri());
      case SQLITE -> sql(jdbc(TestStore.SQLITE.uri()));
      case SQLITE_APART -> sql(jdbc(TestStore.SQLITE.uri())).apart();
      case POSTGRESQL -> sql(TestStore.POSTGRESQL.uri());
      case MARIADB -> sql(TestStore.MARIADB.uri());
      case VALKEY -> redis(TestStore.VALKEY.uri().replaceFirst("valkey", "redis"));
      // The driver's way to say it.
      case REDIS_SENTINEL -> redis(TestStore.REDIS_SENTINEL.uri().replace("?master=", "#"));
      case REDIS_CLUSTER -> cluster();
    };
  }

  private static RedisRecords cluster() {
    String first = TestStore.REDIS_CLUSTER.uri().replaceFirst("redis-cluster:(.*?),.*", "redis:$1");
    return RedisRecords.over(RedisClusterClient.create(first).connect(ByteArrayCodec.INSTANCE));
  }

  static RedisRecords redis(String uri) {
    return RedisRecords.over(RedisClient.create(uri).connect(ByteArrayCodec.INSTANCE));
  }

  static SqlRecords sql(String url) {
    SqlRecords records = SqlRecords.over(new Plain(url));
    records.createTable();
    return records;
  }

  DataSource dataSource() {
    return new Plain(
        switch (this) {
          case POSTGRESQL -> TestStore.POSTGRESQL.uri();
          case MARIADB -> TestStore.MARIADB.uri();
          default -> jdbc(TestStore.SQLITE.uri());
        });
  }

  /** Data beside the locks of SQLite, in a file of its own. */
  static String jdbc(String locks) {
    return "jdbc:" + locks.replace("locks.db", "data.db") + "?busy_timeout=60000&journal_mode=WAL";
  }

  /** Connections, each of them new. */
  record Plain(String url) implements DataSource {
    @Override
    public Connection getConnection() throws SQLException {
      return DriverManager.getConnection(url);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public PrintWriter getLogWriter() {
      return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
      return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }
  }
}
