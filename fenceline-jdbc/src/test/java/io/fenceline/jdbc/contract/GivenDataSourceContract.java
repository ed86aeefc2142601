package io.fenceline.jdbc.contract;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.contract.GivenClientContract;
import io.fenceline.testbed.proxy.FaultProxy;

/** A pool of the application outlives the store that was closed on it. */
abstract class GivenDataSourceContract extends GivenClientContract {

  /** The address of the server, by its own port. */
  abstract String url();

  abstract int port();

  @Override
  protected GivenClient openClient(FaultProxy through) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url().replace(":" + port() + "/", ":" + through.port() + "/"));
    config.setMaximumPoolSize(4);
    config.setConnectionTimeout(2_000);
    HikariDataSource pool = new HikariDataSource(config);
    return new GivenClient() {
      @Override
      public StoreFactory store() {
        return JdbcStores.from(pool);
      }

      @Override
      public void close() {
        pool.close();
      }
    };
  }

  @Override
  protected StoreFactory direct() {
    return JdbcStores.at(url()).poolSize(2);
  }
}
