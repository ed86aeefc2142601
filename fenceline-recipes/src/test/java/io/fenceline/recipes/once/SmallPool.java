package io.fenceline.recipes.once;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** A pool of few connections, for a process with one thread. */
final class SmallPool extends HikariDataSource {
  SmallPool(String url) {
    super(config(url));
  }

  private static HikariConfig config(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(2);
    return config;
  }
}
