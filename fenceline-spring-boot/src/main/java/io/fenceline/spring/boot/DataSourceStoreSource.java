package io.fenceline.spring.boot;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.StoreUnavailableException;
import io.fenceline.jdbc.JdbcStores;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;

/** Locks in the application's {@code DataSource}. */
final class DataSourceStoreSource implements StoreSource, DisposableBean {
  private static final Logger LOG = LoggerFactory.getLogger(DataSourceStoreSource.class);
  private static final Set<String> SUPPORTED = Set.of("PostgreSQL", "MariaDB", "MySQL");

  private final FencelineProperties.Jdbc settings;
  private final List<String> names;
  private final Supplier<@Nullable DataSource> chosen;
  private final Supplier<@Nullable JdbcDetails> details;
  private @Nullable HikariDataSource own;

  /**
   * A source.
   *
   * @param names of all {@code DataSource} beans
   * @param chosen the qualified, the primary, or the only one of them
   */
  DataSourceStoreSource(
      FencelineProperties.Jdbc settings,
      List<String> names,
      Supplier<@Nullable DataSource> chosen,
      Supplier<@Nullable JdbcDetails> details) {
    this.settings = settings;
    this.names = names;
    this.chosen = chosen;
    this.details = details;
  }

  @Override
  public String name() {
    return "datasource";
  }

  @Override
  public Found find() {
    DataSource dataSource = chosen.get();
    if (dataSource == null) {
      return Found.none(
          names.isEmpty()
              ? "there is no DataSource"
              : "there are several DataSource beans %s, and none is primary or marked with @FencelineDataSource"
                  .formatted(names));
    }
    String url;
    try (Connection connection = dataSource.getConnection()) {
      String product = connection.getMetaData().getDatabaseProductName();
      if (!SUPPORTED.contains(product)) {
        return Found.none(why(product));
      }
      url = String.valueOf(connection.getMetaData().getURL());
    } catch (SQLException e) {
      // What is not known can't be given connections of its own.
      throw new StoreUnavailableException(
          "the application's DataSource", "Connecting failed: " + e.getMessage(), e);
    }
    JdbcStores store =
        JdbcStores.from(dataSource)
            .createTables(
                settings.initializeSchema() == FencelineProperties.SchemaInitialization.ALWAYS)
            .tablePrefix(settings.tablePrefix());
    if (settings.schema() != null) {
      store = store.inSchema(settings.schema());
    }
    if (settings.tablesOwner() != null) {
      store = store.tablesOwnedBy(settings.tablesOwner());
    }
    return Found.of(settings.ownConnections() ? withOwnConnections(store, dataSource, url) : store);
  }

  private static String why(String product) {
    return product.equals("SQLite")
        ? "the DataSource is SQLite, where a transaction of the application would keep renewals from"
            + " being written: give locks a file of their own, fenceline.store=sqlite:/path/locks.db"
        : "the DataSource is %s, which is not supported for locks; use PostgreSQL, MariaDB or MySQL"
            .formatted(product);
  }

  private JdbcStores withOwnConnections(JdbcStores store, DataSource dataSource, String url) {
    HikariConfig config = config(dataSource, url);
    if (config == null) {
      LOG.warn(
          "Renewals share the application's DataSource, since how to connect is not known: if all its"
              + " connections are in use for a lease, locks are lost. Use HikariCP, or set"
              + " fenceline.jdbc.own-connections=false to accept it.");
      return store;
    }
    config.setPoolName("fenceline-renewals");
    config.setMaximumPoolSize(1);
    config.setMinimumIdle(0);
    own = new HikariDataSource(config);
    JdbcStores renewing = store.renewals(own);
    String known = config.getJdbcUrl();
    return known == null
        ? renewing
        : renewing.listening(new UnpooledDataSource(known, login(config)));
  }

  private static Properties login(HikariConfig config) {
    Properties login = new Properties();
    login.putAll(config.getDataSourceProperties());
    if (config.getUsername() != null) {
      login.setProperty("user", config.getUsername());
    }
    if (config.getPassword() != null) {
      login.setProperty("password", config.getPassword());
    }
    return login;
  }

  /** How to reach the same database, from the pool itself or from the connection details. */
  private @Nullable HikariConfig config(DataSource dataSource, String url) {
    HikariConfig config = new HikariConfig();
    HikariDataSource pool = unwrapped(dataSource);
    if (pool != null && pool.getDataSource() == null && pool.getDataSourceJNDI() == null) {
      config.setJdbcUrl(pool.getJdbcUrl());
      config.setUsername(pool.getUsername());
      config.setPassword(pool.getPassword());
      if (pool.getDriverClassName() != null) {
        config.setDriverClassName(pool.getDriverClassName());
      }
      if (pool.getDataSourceClassName() != null) {
        config.setDataSourceClassName(pool.getDataSourceClassName());
      }
      Properties properties = new Properties();
      properties.putAll(pool.getDataSourceProperties());
      config.setDataSourceProperties(properties);
      config.setSchema(pool.getSchema());
      config.setCatalog(pool.getCatalog());
      return config;
    }
    JdbcDetails known = details.get();
    // The details may be those of another database than the one that was marked.
    if (known == null || !withoutParameters(known.url()).equals(withoutParameters(url))) {
      return null;
    }
    config.setJdbcUrl(known.url());
    config.setUsername(known.username());
    config.setPassword(known.password());
    if (known.driver() != null) {
      config.setDriverClassName(known.driver());
    }
    return config;
  }

  private static String withoutParameters(String url) {
    int query = url.indexOf('?');
    return query < 0 ? url : url.substring(0, query);
  }

  private static @Nullable HikariDataSource unwrapped(DataSource dataSource) {
    try {
      return dataSource.isWrapperFor(HikariDataSource.class)
          ? dataSource.unwrap(HikariDataSource.class)
          : null;
    } catch (SQLException e) {
      return null;
    }
  }

  @Override
  public void destroy() {
    if (own != null) {
      own.close();
    }
  }
}
