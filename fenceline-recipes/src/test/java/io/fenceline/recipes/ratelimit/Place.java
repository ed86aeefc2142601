package io.fenceline.recipes.ratelimit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.recipes.TestStore;
import io.fenceline.testbed.server.MariaDbServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;

/** Every place for limits, on a real server where it has one. */
enum Place {
  MEMORY,
  SQLITE,
  POSTGRESQL,
  MARIADB,
  REDIS;

  private String uri;
  private RateStore store;

  /** For another process, or for JDBC; the server ends with this JVM. */
  synchronized String uri() {
    if (uri == null) {
      uri =
          switch (this) {
            case MEMORY -> "memory:";
            case REDIS -> TestStore.REDIS.uri();
            case POSTGRESQL -> TestStore.POSTGRESQL.uri();
            case SQLITE ->
                "jdbc:"
                    + TestStore.SQLITE.uri().replace("locks.db", "rates.db")
                    + "?busy_timeout=60000&journal_mode=WAL&synchronous=NORMAL";
            case MARIADB -> TestStore.MARIADB.uri();
          };
    }
    return uri;
  }

  static String url(MariaDbServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  /** The same one each time. */
  synchronized RateStore store() {
    if (store == null) {
      store = store(uri());
      if (store instanceof SqlRates sql) {
        sql.createTable();
      }
    }
    return store;
  }

  static RateStore store(String uri) {
    if (uri.startsWith("redis:")) {
      return RedisRates.over(RedisClient.create(uri).connect(ByteArrayCodec.INSTANCE));
    }
    return uri.startsWith("jdbc:") ? SqlRates.over(pool(uri)) : MemoryRates.create();
  }

  static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(4);
    return new HikariDataSource(config);
  }
}
