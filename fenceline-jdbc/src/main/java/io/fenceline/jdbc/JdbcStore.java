package io.fenceline.jdbc;

import io.fenceline.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks in a database: SQLite, PostgreSQL or MariaDB.
 *
 * <pre>{@code
 * Fenceline fenceline = Fenceline.connect("jdbc:postgresql://db/orders?user=app&password=secret");
 *
 * Fenceline fenceline =
 *     Fenceline.builder().store(JdbcStore.of(dataSource).tablePrefix("orders")).connect();
 * }</pre>
 *
 * <p>Requests are short transactions on connections of their own: they never join a transaction of
 * the caller, and no connection is kept between them. The database's clock decides; SQLite has
 * none, and takes the machine's.
 *
 * <p>Not thread-safe until it is opened.
 */
public final class JdbcStore implements StoreFactory {
  private static final int DEFAULT_POOL_SIZE = 16;

  private final @Nullable Path file;
  private final @Nullable StoreAddress address;
  private final @Nullable DataSource dataSource;
  private @Nullable DataSource renewals;
  private Tables tables = Tables.DEFAULT;
  private boolean creates = true;
  private boolean listens = true;
  private int poolSize = DEFAULT_POOL_SIZE;
  private @Nullable Polling polling;

  private JdbcStore(
      @Nullable Path file, @Nullable StoreAddress address, @Nullable DataSource dataSource) {
    this.file = file;
    this.address = address;
    this.dataSource = dataSource;
  }

  /** Locks in an SQLite file, which is created if it is not there. */
  public static JdbcStore sqlite(Path file) {
    return new JdbcStore(file.toAbsolutePath().normalize(), null, null);
  }

  /**
   * Locks in the database at a JDBC URL, or in an SQLite file.
   *
   * @throws InvalidSettingException if the URL is not of a database that can keep locks
   */
  public static JdbcStore url(String url) {
    return at(StoreAddress.parse(url));
  }

  /**
   * Locks in the database of a data source that you already have, PostgreSQL or MariaDB.
   *
   * <p>It is used as it is: each request borrows one connection and gives it back as it was. If all
   * its connections are in use, renewals have to wait, too, and holds may be lost: see {@link
   * #renewals}. It is not closed.
   */
  public static JdbcStore of(DataSource dataSource) {
    return new JdbcStore(null, null, Objects.requireNonNull(dataSource, "dataSource"));
  }

  static JdbcStore at(StoreAddress address) {
    return switch (address.scheme()) {
      case "sqlite", "jdbc:sqlite" -> {
        if (!address.hosts().isEmpty() || !address.parameters().isEmpty()) {
          throw address.invalid("use sqlite:/path/to/file, or sqlite: for the default file");
        }
        yield new JdbcStore(SqliteFile.at(address.path()), null, null);
      }
      case "jdbc:postgresql", "jdbc:mariadb", "jdbc:mysql" -> new JdbcStore(null, address, null);
      default -> throw address.invalid("use one of " + JdbcProvider.SCHEMES);
    };
  }

  /** How the names of the tables begin; {@code fenceline} by default. */
  public JdbcStore tablePrefix(String prefix) {
    this.tables = new Tables(tables.schema(), prefix);
    return this;
  }

  /** In which schema the tables are (in MariaDB: which database); the connection's by default. */
  public JdbcStore inSchema(String schema) {
    if (file != null) {
      throw new InvalidSettingException("schema", schema, "an SQLite file has none");
    }
    this.tables = new Tables(schema, tables.prefix());
    return this;
  }

  /** Whether tables that are not there are created; otherwise {@link #schema} says how. */
  public JdbcStore createTables(boolean create) {
    this.creates = create;
    return this;
  }

  /** Where renewals get their connections, if not from the data source that was given. */
  public JdbcStore renewals(DataSource only) {
    if (dataSource == null) {
      throw new InvalidSettingException(
          "renewals", "a data source", "with a URL, renewals have a connection of their own");
    }
    this.renewals = Objects.requireNonNull(only, "only");
    return this;
  }

  /** How many connections the pool for a URL has at most, beside that of the renewals. */
  public JdbcStore poolSize(int connections) {
    if (connections < 1 || connections > 1_000) {
      throw new InvalidSettingException("poolSize", connections, "it must be from 1 to 1000");
    }
    this.poolSize = connections;
    return this;
  }

  /**
   * How often those who wait look for their turn: the pause doubles from the shortest to the
   * longest while nothing happens.
   */
  public JdbcStore polling(Duration shortest, Duration longest) {
    this.polling = new Polling(shortest, longest);
    return this;
  }

  /**
   * Whether those who wait listen to PostgreSQL's notifications, on a connection of their own, as
   * they do by default where a URL was given. Behind a transaction pooler it does not help; waiting
   * works without it, a little slower.
   */
  public JdbcStore listen(boolean listen) {
    this.listens = listen;
    return this;
  }

  /** The statements that create the tables, for whoever may run them. */
  public String schema(Database database) {
    List<String> statements = database.dialect().schema(tables);
    return String.join(";\n\n", statements) + ";\n";
  }

  @Override
  public LockStore open(StoreContext context) {
    if (file != null) {
      return SqliteStore.open(file, tables, creates, polling, context);
    }
    if (address != null) {
      return ServerStore.open(address, tables, creates, polling, listens, poolSize, context);
    }
    DataSource given = Objects.requireNonNull(dataSource);
    DataSource own = renewals == null ? given : renewals;
    return ServerStore.open(given, own, tables, creates, polling, context);
  }
}
