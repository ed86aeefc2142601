package io.fenceline.recipes.once;

import io.fenceline.FencingToken;
import io.fenceline.StoreRefusedException;
import io.fenceline.event.Lost;
import io.fenceline.recipes.support.SqlTable;
import io.fenceline.recipes.support.Texts;
import io.fenceline.settings.InvalidSettingException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Records in SQLite, PostgreSQL or MariaDB, written by the transaction of the effect.
 *
 * <pre>{@code
 * SqlRecords records = SqlRecords.over(dataSource);
 * records.createTable();
 * Once<SqlWork, String> payments =
 *     Once.of(fenceline, "payments", records, Codec.text(), Vanished.RERUN);
 * payments.call("order-12345", "EUR 12.00", work -> book(work.connection(), work.key()));
 * }</pre>
 *
 * <p>The worker gets a connection in a transaction; what it writes there is committed together with
 * its result, or not at all: a worker that dies, fails or is overtaken leaves no effect. With
 * {@link #joining}, that transaction is the caller's own. That a worker has begun is committed
 * before, by a connection of its own: hand in a data source that does not take part in the caller's
 * transactions, and has a second connection for each worker.
 *
 * <p>Times are by the database's clock. A transaction that stands still, since its process does,
 * keeps what it has locked, as always: in SQLite that is the whole file. Give SQLite a {@code
 * busy_timeout}. MariaDB's driver, and not MySQL's, tells that it is MariaDB.
 */
public final class SqlRecords extends OnceRecords<SqlWork> {
  private static final int VERSION = 1;
  private static final SqlTable TABLE =
      new SqlTable("fenceline_once", "SqlRecords.createTable", VERSION, "");
  private static final int SWEPT_AT_ONCE = 500;

  /** A record may vanish between two looks at it, but not each time. */
  private static final int LOOKS = 10;

  private final DataSource dataSource;
  private final SqlTable table;
  private final @Nullable Connection joined;
  private volatile @Nullable Statements statements;

  /** The statements in the words of a database. */
  private record Statements(
      String schema, String begin, String find, String finish, String clear, String sweep) {

    static Statements of(String product) {
      boolean isMariaDb = product.equalsIgnoreCase("mariadb");
      Map<String, String> words =
          switch (product.toLowerCase(Locale.ROOT)) {
            case "sqlite" ->
                Map.of(
                    "now", "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
                    "bytes", "blob",
                    "name", "blob",
                    "no_name", "x''",
                    "like", "",
                    "insert_new", "INSERT INTO",
                    "or_nothing", "ON CONFLICT (name) DO NOTHING",
                    "skip", "");
            case "postgresql" ->
                Map.of(
                    "now", "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
                    "bytes", "bytea",
                    "name", "bytea",
                    "no_name", "''",
                    "like", "",
                    "insert_new", "INSERT INTO",
                    "or_nothing", "ON CONFLICT (name) DO NOTHING",
                    "skip", "FOR UPDATE SKIP LOCKED");
            // Names would be compared without case otherwise, and tables could be without
            // transactions.
            case "mariadb" ->
                Map.of(
                    "now", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000",
                    "bytes", "longblob",
                    "name", "varbinary(300)",
                    "no_name", "''",
                    "like", "ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                    "insert_new", "INSERT IGNORE INTO",
                    "or_nothing", "");
            default ->
                throw new InvalidSettingException(
                    "database", product, "records can be in SQLite, PostgreSQL and MariaDB");
          };
      Map<String, String> names =
          Map.of(
              "table", TABLE.name(),
              "index", "fenceline_once_finished",
              "version", Integer.toString(VERSION));
      return new Statements(
          in("schema.sql", names, words),
          in(isMariaDb ? "begin-mariadb.sql" : "begin.sql", names, words),
          in("find.sql", names, words),
          in("finish.sql", names, words),
          in("clear.sql", names, words),
          in(isMariaDb ? "sweep-mariadb.sql" : "sweep.sql", names, words));
    }

    private static String in(String file, Map<String, String> names, Map<String, String> words) {
      Map<String, String> all = new HashMap<>(words);
      all.putAll(names);
      return Texts.read(SqlRecords.class, file, all);
    }
  }

  private SqlRecords(
      DataSource dataSource,
      SqlTable table,
      @Nullable Connection joined,
      @Nullable Statements statements) {
    this.dataSource = dataSource;
    this.table = table;
    this.joined = joined;
    this.statements = statements;
  }

  /** Records in the table {@code fenceline_once}. */
  public static SqlRecords over(DataSource dataSource) {
    return new SqlRecords(Objects.requireNonNull(dataSource, "dataSource"), TABLE, null, null);
  }

  /**
   * The same records, where the work is part of a transaction of the caller, who commits it after
   * the call has returned, or rolls it back if it has thrown. Until then whoever asks for the same
   * key waits; one that is rolled back counts as a worker that vanished.
   */
  public SqlRecords joining(Connection transaction) {
    return new SqlRecords(
        dataSource, table, Objects.requireNonNull(transaction, "transaction"), statements);
  }

  /**
   * Returns the same records, for work whose effect is elsewhere: a worker gets no connection, and
   * no transaction is open while it works.
   */
  public OnceRecords<Work> apart() {
    return new NonTransactionalRecords(this);
  }

  /**
   * Which role the table may belong to in PostgreSQL, where it is neither this user's, nor a role
   * of its own, nor a superuser, nor the owner of the schema or the database. A table of anybody
   * else is refused.
   */
  public SqlRecords tableOwnedBy(String role) {
    return new SqlRecords(dataSource, table.ownedBy(role), joined, null);
  }

  /** Returns the statements that create the table, for whoever may run them. */
  public static String schema(String product) {
    return Statements.of(product).schema + "\n";
  }

  /**
   * Creates the table if it is not there.
   *
   * @throws StoreRefusedException if it is there, and somebody else may have put it there: a
   *     trigger of theirs would act with your rights
   */
  public void createTable() {
    table.create(
        dataSource,
        product -> Statements.of(product).schema,
        "Creating the table of the records failed");
  }

  @Override
  String kind() {
    return "sql";
  }

  /** What is done by a connection of its own, and committed at once. */
  private interface Step<A> {
    A run(Connection connection, Statements statements) throws SQLException;
  }

  private <A> A alone(String what, Step<A> step) {
    try (Connection connection = dataSource.getConnection()) {
      boolean commits = connection.getAutoCommit();
      try {
        A answer = step.run(connection, checked(connection));
        if (!commits) {
          connection.commit();
        }
        return answer;
      } catch (SQLException | RuntimeException e) {
        if (!commits) {
          connection.rollback();
        }
        throw e;
      }
    } catch (SQLException e) {
      throw SqlTable.failure(what + " failed", e);
    }
  }

  /** The statements; the first time it is seen that the table is there, and of this version. */
  private Statements checked(Connection connection) throws SQLException {
    Statements known = statements;
    if (known != null) {
      return known;
    }
    Statements found = Statements.of(connection.getMetaData().getDatabaseProductName());
    table.check(connection, found.find, 3);
    statements = found;
    return found;
  }

  private static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  Optional<Entry> find(String name) {
    return alone("Reading a record", (connection, sql) -> find(connection, sql, name));
  }

  private static Optional<Entry> find(Connection connection, Statements sql, String name)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.find)) {
      statement.setBytes(1, bytes(name));
      return entry(statement);
    }
  }

  private static Optional<Entry> entry(PreparedStatement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        return Optional.empty();
      }
      return Optional.of(
          new Entry(
              OnceReport.State.of(row.getInt(1)),
              row.getString(2),
              row.getLong(3),
              row.getInt(4),
              Instant.ofEpochMilli(row.getLong(5)),
              row.getString(6),
              row.getBytes(7)));
    }
  }

  @Override
  Entry begin(
      String name, String fingerprint, long token, String worker, boolean rerun, Instant now) {
    return alone(
        "Beginning a record",
        (connection, sql) -> {
          for (int look = 0; look < LOOKS; look++) {
            try (PreparedStatement statement = connection.prepareStatement(sql.begin)) {
              statement.setBytes(1, bytes(name));
              statement.setString(2, kindOf(name));
              statement.setString(3, fingerprint);
              statement.setLong(4, token);
              statement.setString(5, worker);
              int last = (int) sql.begin.chars().filter(c -> c == '?').count();
              for (int parameter = 6; parameter <= last; parameter++) {
                statement.setInt(parameter, rerun ? 1 : 0);
              }
              Optional<Entry> begun = entry(statement);
              if (begun.isPresent()) {
                return begun.get();
              }
            }
            Optional<Entry> inTheWay = find(connection, sql, name);
            if (inTheWay.isPresent()) {
              return inTheWay.get();
            }
          }
          throw new SQLException(
              "other workers created and removed the record " + LOOKS + " times");
        });
  }

  @Override
  boolean finish(String name, long token, long by, Outcome outcome, Instant now) {
    return alone(
        "Finishing a record",
        (connection, sql) ->
            finish(connection, sql, name, token, by, outcome)
                || find(connection, sql, name)
                    .filter(entry -> entry.isFinished() && entry.token() == by)
                    .isPresent());
  }

  private static boolean finish(
      Connection connection, Statements sql, String name, long token, long by, Outcome outcome)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.finish)) {
      statement.setInt(1, outcome.state().code());
      statement.setLong(2, by);
      statement.setBytes(3, outcome.result());
      statement.setBytes(4, bytes(name));
      statement.setLong(5, token);
      return statement.executeUpdate() == 1;
    }
  }

  @Override
  boolean clear(String name, long token) {
    return alone(
        "Clearing a record",
        (connection, sql) -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.clear)) {
            statement.setBytes(1, bytes(name));
            statement.setLong(2, token);
            return statement.executeUpdate() == 1;
          }
        });
  }

  @Override
  boolean sweep(String kind, Duration retention, Instant now) {
    return alone(
        "Sweeping records",
        (connection, sql) -> {
          try (PreparedStatement statement = connection.prepareStatement(sql.sweep)) {
            statement.setString(1, kind);
            statement.setLong(2, retention.toMillis());
            statement.setInt(3, SWEPT_AT_ONCE);
            return statement.executeUpdate() == SWEPT_AT_ONCE;
          }
        });
  }

  @Override
  Session<SqlWork> open(Work plain) {
    Connection own = joined;
    try {
      if (own != null) {
        if (own.getAutoCommit()) {
          throw new InvalidSettingException(
              "autoCommit", true, "effect and record must commit together: set it to false");
        }
        return new SqlSession(plain, own, checked(own), false);
      }
      Connection connection = dataSource.getConnection();
      try {
        boolean commits = connection.getAutoCommit();
        connection.setAutoCommit(false);
        return new SqlSession(plain, connection, checked(connection), commits);
      } catch (SQLException | RuntimeException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      throw SqlTable.failure("Beginning the transaction of the work failed", e);
    }
  }

  /** The transaction of a worker. */
  private final class SqlSession implements Session<SqlWork> {
    private final Work plain;
    private final Connection connection;
    private final Statements sql;
    private final boolean commits;
    private boolean ended;

    SqlSession(Work plain, Connection connection, Statements sql, boolean commits) {
      this.plain = plain;
      this.connection = connection;
      this.sql = sql;
      this.commits = commits;
    }

    @Override
    public SqlWork work() {
      return new Told(plain, connection);
    }

    @Override
    public boolean finish(String name, long token, Outcome outcome, Instant now) {
      try {
        if (!SqlRecords.finish(connection, sql, name, token, token, outcome)) {
          return false;
        }
        if (joined == null) {
          connection.commit();
          ended = true;
        }
        return true;
      } catch (SQLException e) {
        throw SqlTable.failure(
            "Committing the work of a record failed, although it may have been committed", e);
      }
    }

    @Override
    public void close() {
      if (joined != null) {
        return; // The caller ends what the caller began.
      }
      try (connection) {
        if (!ended) {
          connection.rollback();
        }
        connection.setAutoCommit(commits);
      } catch (SQLException e) {
        throw SqlTable.failure("Ending the transaction of the work failed", e);
      }
    }
  }

  /** What a worker is told. */
  private record Told(Work work, Connection connection) implements SqlWork {
    @Override
    public String key() {
      return work.key();
    }

    @Override
    public long token() {
      return work.token();
    }

    @Override
    public FencingToken fencingToken() {
      return work.fencingToken();
    }

    @Override
    public int attempt() {
      return work.attempt();
    }

    @Override
    public boolean isValid() {
      return work.isValid();
    }

    @Override
    public Duration remaining() {
      return work.remaining();
    }

    @Override
    public CompletableFuture<Lost> lost() {
      return work.lost();
    }

    @Override
    public void ensure(Duration duration) throws InterruptedException {
      work.ensure(duration);
    }

    @Override
    public void effectBegins() {
      work.effectBegins();
    }
  }
}
