package io.fenceline.jdbc;

import io.fenceline.jdbc.connection.JdbcUrl;
import io.fenceline.jdbc.connection.SqliteFile;
import io.fenceline.jdbc.connection.TlsOptions;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.waiting.PollInterval;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a database: SQLite, PostgreSQL, MariaDB or MySQL.
 *
 * <pre>{@code
 * Fenceline fenceline = Fenceline.connect("jdbc:postgresql://db/orders?user=app&password=secret");
 *
 * Fenceline fenceline =
 *     Fenceline.builder().store(JdbcStores.from(dataSource).tablePrefix("orders")).connect();
 * }</pre>
 *
 * <p>Requests are short transactions on connections of their own: they never join a transaction of
 * the caller, and no connection is kept between them. The database's clock decides; SQLite has
 * none, and takes the machine's.
 *
 * <p>Immutable: each method gives a changed copy.
 */
public final class JdbcStores implements StoreFactory {
  private static final int DEFAULT_POOL_SIZE = 16;

  /** How many requests may want a connection of a given pool at once. */
  static final int AT_ONCE = DEFAULT_POOL_SIZE;

  private final @Nullable Path file;
  private final @Nullable StoreAddress address;
  private final @Nullable DataSource dataSource;
  private final Settings settings;

  /**
   * All that can be set, while it is being changed; everything else sees finished settings only.
   */
  static final class Settings {
    @Nullable DataSource renewals;
    @Nullable DataSource listening;
    Tables tables = Tables.DEFAULT;
    boolean creates = true;
    boolean listens = true;
    int poolSize = DEFAULT_POOL_SIZE;
    boolean hasFastPath = true;
    @Nullable PollInterval polling;

    /** How often to look: as the user has said, or this. */
    PollInterval pollOr(PollInterval usual) {
      return polling == null ? usual : polling;
    }
  }

  private JdbcStores(
      @Nullable Path file, @Nullable StoreAddress address, @Nullable DataSource dataSource) {
    this(file, address, dataSource, new Settings());
  }

  private JdbcStores(
      @Nullable Path file,
      @Nullable StoreAddress address,
      @Nullable DataSource dataSource,
      Settings settings) {
    this.file = file;
    this.address = address;
    this.dataSource = dataSource;
    this.settings = settings;
  }

  private JdbcStores with(Consumer<Settings> change) {
    Settings changed = new Settings();
    changed.renewals = settings.renewals;
    changed.listening = settings.listening;
    changed.tables = settings.tables;
    changed.creates = settings.creates;
    changed.listens = settings.listens;
    changed.poolSize = settings.poolSize;
    changed.hasFastPath = settings.hasFastPath;
    changed.polling = settings.polling;
    change.accept(changed);
    return new JdbcStores(file, address, dataSource, changed);
  }

  /** Locks in an SQLite file, which is created if it is not there. */
  public static JdbcStores sqlite(Path file) {
    return new JdbcStores(file.toAbsolutePath().normalize(), null, null);
  }

  /**
   * Locks in the database at a JDBC URL, or in an SQLite file.
   *
   * @throws InvalidSettingException if the URL is not of a database that can keep locks
   */
  public static JdbcStores at(String url) {
    return at(StoreAddress.parse(url));
  }

  /**
   * Locks in the database of a data source that you already have, PostgreSQL, MariaDB or MySQL.
   *
   * <p>It is used as it is: each request borrows one connection and gives it back as it was. If all
   * its connections are in use, renewals have to wait, too, and holds may be lost: see {@link
   * #renewals}. It is not closed.
   */
  public static JdbcStores from(DataSource dataSource) {
    return new JdbcStores(null, null, Objects.requireNonNull(dataSource, "dataSource"));
  }

  static JdbcStores at(StoreAddress address) {
    return switch (address.scheme()) {
      case "sqlite", "jdbc:sqlite" -> {
        if (!address.hosts().isEmpty() || !address.parameters().isEmpty()) {
          throw address.invalid("use sqlite:/path/to/file, or sqlite: for the default file");
        }
        yield new JdbcStores(SqliteFile.at(address.path()), null, null);
      }
      case "jdbc:postgresql", "jdbc:mariadb", "jdbc:mysql" ->
          new JdbcStores(null, TlsOptions.check(address), null);
      default -> throw address.invalid("use one of " + JdbcProvider.SCHEMES);
    };
  }

  /** Sets the prefix of the tables' names; {@code fenceline} by default. */
  public JdbcStores tablePrefix(String prefix) {
    return with(it -> it.tables = new Tables(it.tables.schema(), prefix, it.tables.owner()));
  }

  /**
   * In which schema the tables are (in MariaDB and MySQL: which database); the connection's by
   * default.
   */
  public JdbcStores inSchema(String schema) {
    if (file != null) {
      throw new InvalidSettingException(
          "schema", schema, "leave it out: an SQLite file has no schemas");
    }
    return with(it -> it.tables = new Tables(schema, it.tables.prefix(), it.tables.owner()));
  }

  /**
   * Sets the role that the tables may belong to in PostgreSQL, where a role created them that is
   * neither this user's, nor a superuser, nor the owner of the schema or the database. Tables of
   * anybody else are refused: who made them could have given them a trigger that acts with this
   * user's rights. Best give them a schema of their own, in which nobody else may create anything:
   * see {@link #inSchema}.
   */
  public JdbcStores tablesOwnedBy(String role) {
    return with(it -> it.tables = new Tables(it.tables.schema(), it.tables.prefix(), role));
  }

  /** Sets whether missing tables are created; otherwise {@link #schema} says how. */
  public JdbcStores createTables(boolean create) {
    return with(it -> it.creates = create);
  }

  /** Sets where renewals get their connections, if not from the data source that was given. */
  public JdbcStores renewals(DataSource only) {
    if (dataSource == null) {
      throw new InvalidSettingException(
          "renewals",
          "a data source",
          "leave it out: a store that is opened by URL already has a connection for renewals");
    }
    Objects.requireNonNull(only, "only");
    return with(it -> it.renewals = only);
  }

  /**
   * Sets where the listener for PostgreSQL's notifications, or for MariaDB's wake-ups, gets its one
   * connection, which it keeps, if a data source was given: without it, waiting claims poll.
   */
  public JdbcStores listening(DataSource only) {
    if (dataSource == null) {
      throw new InvalidSettingException(
          "listening",
          "a data source",
          "leave it out: a store that is opened by URL already has a connection for listening");
    }
    Objects.requireNonNull(only, "only");
    return with(it -> it.listening = only);
  }

  /**
   * Sets the maximum number of connections of the pool for a URL, in addition to those of the
   * renewals: one, and up to eight more while rows are locked.
   */
  public JdbcStores poolSize(int connections) {
    if (connections < 1 || connections > 1_000) {
      throw new InvalidSettingException("poolSize", connections, "it must be from 1 to 1000");
    }
    return with(it -> it.poolSize = connections);
  }

  /**
   * Sets how often waiting claims look for their turn: the pause doubles from the shortest to the
   * longest while nothing happens.
   */
  public JdbcStores polling(Duration shortest, Duration longest) {
    return with(it -> it.polling = new PollInterval(shortest, longest));
  }

  /**
   * Sets whether waiting claims listen to PostgreSQL's notifications, or in MariaDB sleep in a
   * statement that a release ends, on a connection of their own, as they do by default where a URL
   * was given. Behind a pooler such as PgBouncer they never do: waiting works without it, a little
   * slower.
   */
  public JdbcStores listen(boolean listen) {
    return with(it -> it.listens = listen);
  }

  /** Lets every claim and release take the path that decides, for tests. */
  JdbcStores withoutFastPath() {
    return with(it -> it.hasFastPath = false);
  }

  /**
   * The same, with a little less time for a request: what the database says is wrong is told before
   * the client has stopped to wait for it.
   */
  private static StoreContext withinItsTime(StoreContext client) {
    return new StoreContext(
        client.client(),
        client.time(),
        client.random(),
        client.connectTimeout(),
        Durations.times(Durations.part(client.operationTimeout(), 10), 9));
  }

  /**
   * Returns connections of their own to the same database, for data that is kept beside the locks.
   * Each call of {@code getConnection} opens a new one; the address' secrets are not given away.
   */
  public DataSource connections() {
    if (file != null) {
      Properties patience = new Properties();
      patience.setProperty("busy_timeout", "60000");
      return JdbcUrl.of(file).source(patience, 0);
    } else if (address != null) {
      return JdbcUrl.of(address, address.scheme().equals("jdbc:postgresql"))
          .source(new Properties(), 0);
    }
    return Objects.requireNonNull(dataSource);
  }

  /** Returns the statements that create the tables, for whoever may run them. */
  public String schema(Database database) {
    List<String> statements = database.dialect().schema(settings.tables);
    return String.join(";\n\n", statements) + ";\n";
  }

  @Override
  public LockStore open(StoreContext client) {
    StoreContext context = withinItsTime(client);
    if (file != null) {
      return SqliteOpener.open(file, settings, context);
    } else if (address != null) {
      return ServerOpener.open(address, settings, context);
    }
    return ServerOpener.open(Objects.requireNonNull(dataSource), settings, context);
  }
}
