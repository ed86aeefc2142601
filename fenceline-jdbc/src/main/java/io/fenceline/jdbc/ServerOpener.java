package io.fenceline.jdbc;

import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.DataSourceConnections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.connection.JdbcUrl;
import io.fenceline.jdbc.connection.Pools;
import io.fenceline.jdbc.connection.PostgresPooler;
import io.fenceline.jdbc.diagnostics.Diagnostics;
import io.fenceline.jdbc.layout.Channels;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.schema.TableSetup;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.jdbc.waiting.ListenerSource;
import io.fenceline.jdbc.waiting.MariaDbListener;
import io.fenceline.jdbc.waiting.NotificationListener;
import io.fenceline.jdbc.waiting.PollInterval;
import io.fenceline.jdbc.waiting.PostgresListener;
import io.fenceline.jdbc.waiting.SharedListener;
import io.fenceline.jdbc.waiting.Waiters;
import io.fenceline.settings.Durations;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Lane;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Opens a database server as a store. */
final class ServerOpener {
  /** While it is told when to ask, a waiter looks for what nobody says. */
  private static final PollInterval TOLD = PollInterval.millis(100, 5_000);

  /** The same, for a waiter that may not be told: one that will be does not look at first. */
  private static final PollInterval BELL = PollInterval.millis(20, 5_000);

  private static final PollInterval WITHOUT_HINTS = PollInterval.millis(10, 250);

  private ServerOpener() {}

  static Guarantees guarantees(Database database) {
    return new Guarantees(
        database.name().toLowerCase(Locale.ROOT),
        EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
        Certainty.UNKNOWN,
        LeaseLimits.from(Duration.ofMillis(200)),
        database == Database.POSTGRESQL
            ? "none: a grant is on disk before it is answered, unless fsync or full_page_writes is off,"
                + " or the tables are unlogged"
            : "none with innodb_flush_log_at_trx_commit=1 and, where there is a binary log,"
                + " sync_binlog=1; otherwise the last grants may be forgotten",
        "a standby that replicates asynchronously may lack the last grants when it is promoted;"
            + " tokens still rise as long as its clock is not behind",
        "set ahead, leases end early; set back, a dead holder's name opens one lease later",
        "tokens go on from the clock");
  }

  // By URL. -------------------------------------------------------------------------------------

  static LockStore open(StoreAddress address, JdbcStores.Settings settings, StoreContext context) {
    checkPlace(address);
    Database database = databaseOf(address);
    boolean isPostgres = database == Database.POSTGRESQL;
    JdbcUrl url = JdbcUrl.of(address, database != Database.MARIADB);
    String description = withoutParameters(address.toString());
    Dialect dialect = database.dialect();
    Failures failures = new Failures(description, dialect, url.hidden());
    checkDriver(address, url.url(), description);
    Pools.Opened opened;
    try {
      opened = Pools.open(url, dialect, isPostgres, settings.poolSize, context);
    } catch (SQLException e) {
      throw failures.of("Connecting failed", e);
    } catch (RuntimeException e) {
      throw failures.of("Connecting failed", rootOf(e));
    }
    Connections connections = opened.connections();
    return finish(
        connections,
        () -> {
          checkServer(database, connections, failures);
          JdbcStore store =
              open(database, description, dialect, connections, failures, settings, context);
          // Messages that a pooler's session hears are not ours.
          if (settings.listens && !opened.isPooled()) {
            Properties properties = url.with(Pools.properties(url, isPostgres, context));
            listen(
                store,
                settings,
                context,
                (key, listener) ->
                    SharedListener.of(
                        List.of(description, settings.tables, key, properties), listener),
                answerMillis -> ListenerSource.at(url.url(), properties, answerMillis));
          }
          return store;
        });
  }

  private static Database databaseOf(StoreAddress address) {
    return switch (address.scheme()) {
      case "jdbc:postgresql" -> Database.POSTGRESQL;
      case "jdbc:mysql" -> Database.MYSQL;
      default -> Database.MARIADB;
    };
  }

  /** A password in a place where no driver looks for one would be written to the driver's log. */
  private static void checkPlace(StoreAddress address) {
    String place = withoutParameters(address.secretText());
    if (!place.startsWith(address.scheme() + "://")
        || place.contains("@")
        || address.path().matches(".*[:;=].*")) {
      throw address.invalid(
          "write %s://host/database?user=NAME&password=SECRET".formatted(address.scheme()));
    }
  }

  /** The driver manager's own error would show the URL with its password. */
  private static void checkDriver(StoreAddress address, String url, String description) {
    try {
      DriverManager.getDriver(url);
    } catch (SQLException e) {
      String artifact =
          switch (address.scheme()) {
            case "jdbc:postgresql" -> "org.postgresql:postgresql";
            case "jdbc:mysql" ->
                "com.mysql:mysql-connector-j (to the fenceline tool as lib/mysql-connector-j.jar)";
            default -> "org.mariadb.jdbc:mariadb-java-client";
          };
      throw new StoreUnavailableException(
          description,
          "No JDBC driver on the class path accepts this URL; correct it, or add " + artifact,
          null);
    }
  }

  /** MariaDB and MySQL greet alike, and either driver connects to both. */
  private static void checkServer(Database expected, Connections connections, Failures failures) {
    try {
      Database found =
          connections.use(
              Connections.Purpose.WORK, db -> Database.of(db.connection().getMetaData()));
      if (found != expected) {
        throw new Failures.Unusable(
            "the server is %s; connect with jdbc:%s:"
                .formatted(found.dialect().title(), found.name().toLowerCase(Locale.ROOT)));
      }
    } catch (SQLException e) {
      throw failures.of("The database can't be used for locks", e);
    }
  }

  private static String withoutParameters(String url) {
    int query = url.indexOf('?');
    return query < 0 ? url : url.substring(0, query);
  }

  private static Exception rootOf(RuntimeException e) {
    Throwable cause = e;
    while (cause.getCause() != null && !(cause instanceof SQLException)) {
      cause = cause.getCause();
    }
    return cause instanceof SQLException found ? found : e;
  }

  // By data source. -----------------------------------------------------------------------------

  static LockStore open(DataSource work, JdbcStores.Settings settings, StoreContext context) {
    DataSource renewals = settings.renewals == null ? work : settings.renewals;
    Connections connections =
        new DataSourceConnections(
            work, renewals, true, false, JdbcStores.AT_ONCE, context.operationTimeout(), () -> {});
    return finish(
        connections, () -> unbound(context, () -> openGiven(connections, settings, context)));
  }

  private static LockStore openGiven(
      Connections connections, JdbcStores.Settings settings, StoreContext context) {
    Identity identity;
    try {
      identity = connections.use(Connections.Purpose.WORK, db -> Identity.of(db.connection()));
    } catch (SQLException e) {
      throw new StoreUnavailableException("data source", "Connecting failed: " + e.getMessage(), e);
    }
    Dialect dialect = identity.database.dialect();
    String description = identity.description;
    Failures failures = new Failures(description, dialect, List.of());
    JdbcStore store =
        open(identity.database, description, dialect, connections, failures, settings, context);
    DataSource listening = settings.listening;
    if (listening != null && settings.listens) {
      listen(
          store,
          settings,
          context,
          (key, listener) -> listener.get(),
          answerMillis -> ListenerSource.from(listening, answerMillis));
    }
    return store;
  }

  /** Which database is behind a connection, and what to call it. */
  private record Identity(Database database, String description) {
    static Identity of(Connection connection) throws SQLException {
      DatabaseMetaData about = connection.getMetaData();
      Database database = Database.of(about);
      if (database == Database.MARIADB && "MySQL".equals(about.getDatabaseProductName())) {
        throw new SQLException(
            "this server is MariaDB: connect with MariaDB's driver, not MySQL's");
      }
      if (database == Database.SQLITE) {
        throw new SQLException("for SQLite use JdbcStores.sqlite(file)");
      }
      String url = String.valueOf(about.getURL());
      return new Identity(database, withoutParameters(StoreAddress.parse(url).toString()));
    }
  }

  /** The calling thread may have a transaction that the data source would hand us. */
  private static LockStore unbound(StoreContext context, Supplier<LockStore> opening) {
    CompletableFuture<LockStore> opened = new CompletableFuture<>();
    context
        .time()
        .lane(Lane.WORK)
        .execute(
            () ->
                DataSourceConnections.unbound(
                    () -> {
                      try {
                        opened.complete(opening.get());
                      } catch (RuntimeException e) {
                        opened.completeExceptionally(e);
                      }
                    }));
    try {
      return opened.orTimeout(context.connectTimeout().toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new StoreUnavailableException(
            "data source",
            "Connecting failed: the data source gave no connection within %s; all of them are in use, or the server can't be reached"
                .formatted(Durations.show(context.connectTimeout())),
            null);
      }
      throw e.getCause() instanceof RuntimeException own ? own : e;
    }
  }

  // Both. ---------------------------------------------------------------------------------------

  private static JdbcStore open(
      Database database,
      String description,
      Dialect dialect,
      Connections connections,
      Failures failures,
      JdbcStores.Settings settings,
      StoreContext context) {
    Statements statements = new Statements(dialect, settings.tables);
    new TableSetup(dialect, settings.tables, statements, failures)
        .check(connections, settings.creates);
    // Named for PostgreSQL only: the class needs its driver.
    Diagnostics diagnostics =
        new Diagnostics(
            dialect,
            statements,
            database == Database.POSTGRESQL
                ? PostgresPooler::findings
                : Diagnostics.Surroundings.NONE);
    return new JdbcStore(
        context,
        new OpenDatabase(
            description,
            diagnostics.durable(guarantees(database), connections, failures),
            dialect,
            statements,
            connections,
            failures,
            diagnostics),
        settings.pollOr(WITHOUT_HINTS),
        settings.hasFastPath);
  }

  /**
   * Lets those who wait be told, where the database can.
   *
   * @param sharing gives the listener that is in use by this key, or this one
   * @param source opens connections on which an answer may take so many milliseconds
   */
  private static void listen(
      JdbcStore store,
      JdbcStores.Settings settings,
      StoreContext context,
      BiFunction<String, Supplier<NotificationListener>, NotificationListener> sharing,
      IntFunction<ListenerSource> source) {
    String client = ClaimRow.encode(context.client());
    String channel = Channels.of(settings.tables, client);
    Waiters waiters = store.waiters;
    Statements.Bell bell = store.bell();
    if (bell != null) {
      int answerMillis = MariaDbListener.answerMillis(context.operationTimeout().toMillis());
      waiters.listenWith(
          sharing.apply(
              channel,
              () ->
                  new MariaDbListener(
                      source.apply(answerMillis),
                      bell,
                      client,
                      waiters::quietNames,
                      waiters::rung,
                      waiters::lookSoon)),
          settings.pollOr(BELL));
    } else if (store.tells()) {
      waiters.listenWith(
          sharing.apply(
              channel,
              () ->
                  new PostgresListener(
                      source.apply(PostgresListener.ANSWER_MILLIS),
                      channel,
                      waiters::hintOn,
                      waiters::lookSoon)),
          settings.pollOr(TOLD));
    }
  }

  private static LockStore finish(Connections connections, Supplier<LockStore> opening) {
    try {
      return opening.get();
    } catch (RuntimeException e) {
      connections.close();
      throw e;
    }
  }
}
