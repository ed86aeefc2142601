package io.fenceline.jdbc;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceMarks;
import io.fenceline.fence.FenceNotices;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.PostgresDialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Refuses writers that were overtaken, inside the transaction that writes.
 *
 * <pre>{@code
 * JdbcFence fence = JdbcFence.create();
 *
 * connection.setAutoCommit(false);
 * fence.check(connection, "ledger", hold.fencingToken());
 * // write to the same database, then
 * connection.commit();
 * }</pre>
 *
 * <p>The check is one statement of your own transaction (in MySQL two), so it commits or rolls back
 * together with what you write, and whoever checks the same resource meanwhile waits for that.
 * Correct at READ COMMITTED and above; where a stricter level makes the database refuse the
 * statement (a serialization failure), the transaction has to be repeated as always. Roll back when
 * it throws.
 *
 * <p>Check before you read what your writes depend on. Until your token has passed, an older holder
 * that is still at work can commit, and what you have read by then lacks its writes. Among the
 * writes themselves the order does not matter.
 *
 * <p>Works with SQLite, PostgreSQL, MariaDB and MySQL, with any connection, and without a
 * connection of Fenceline. It keeps one row of some fifty bytes for each resource, in the table
 * {@code fenceline_fences}: see {@link #createTable}, {@link #schema} and, for resources that come
 * and go, {@link #prune}. To fence rows of your own without another table, see {@link FencedRow}.
 *
 * <p>Immutable: each setting gives a changed copy. Thread-safe.
 */
public final class JdbcFence {
  /** How long marks are kept at least: a writer that sleeps longer is not expected to wake up. */
  private static final Duration SHORTEST_MEMORY = Duration.ofHours(1);

  private static final Map<Database, String> SECONDS =
      Map.of(
          Database.SQLITE, "CAST(strftime('%s', 'now') AS INTEGER)",
          Database.POSTGRESQL, "CAST(extract(epoch FROM now()) AS bigint)",
          Database.MARIADB, "UNIX_TIMESTAMP()",
          Database.MYSQL, "UNIX_TIMESTAMP()");

  private final Tables tables;
  private final FenceNotices notices;
  private final Map<Database, Sql> checks;

  /** For marks that must not be forgotten though nothing else is written with them. */
  private final Map<Database, Sql> lastingChecks;

  private final Sql marks;

  private JdbcFence(Tables tables, FenceNotices notices) {
    this.tables = tables;
    this.notices = notices;
    Map<Database, Sql> all = new EnumMap<>(Database.class);
    SECONDS.keySet().forEach(database -> all.put(database, sql(database, "fence-check", "")));
    this.checks = all;
    Map<Database, Sql> lasting = new EnumMap<>(all);
    String durable = "WHERE " + PostgresDialect.DURABLE;
    lasting.put(Database.POSTGRESQL, sql(Database.POSTGRESQL, "fence-check", durable));
    this.lastingChecks = lasting;
    this.marks = sql(Database.MYSQL, "fence-marks", "");
  }

  /** Returns the fence in the table {@code fenceline_fences}. */
  public static JdbcFence create() {
    return new JdbcFence(Tables.DEFAULT, FenceNotices.of("jdbc"));
  }

  /** Sets the prefix of the table's name; {@code fenceline} by default. */
  public JdbcFence tablePrefix(String prefix) {
    return new JdbcFence(new Tables(tables.schema(), prefix, tables.owner()), notices);
  }

  /**
   * In which schema the table is (in MariaDB and MySQL: which database); the connection's by
   * default.
   */
  public JdbcFence inSchema(String schema) {
    return new JdbcFence(new Tables(schema, tables.prefix(), tables.owner()), notices);
  }

  /**
   * Sets the role that the table may belong to in PostgreSQL, as {@link JdbcStores#tablesOwnedBy}:
   * {@link #createTable} refuses one that somebody else has put there.
   */
  public JdbcFence tableOwnedBy(String role) {
    return new JdbcFence(new Tables(tables.schema(), tables.prefix(), role), notices);
  }

  /** Tells one more listener what is accepted and refused. */
  public JdbcFence listener(FenceListener listener) {
    return new JdbcFence(tables, notices.with(listener));
  }

  /** Returns the statement that creates the table, for whoever may run it. */
  public String schema(Database database) {
    return Sql.text(folder(database), "fence-schema", words(database)) + ";\n";
  }

  /**
   * Creates the table if it is not there; in MariaDB and MySQL this commits an open transaction.
   *
   * @throws StoreRefusedException if it is there, and somebody else may have put it there: a
   *     trigger of theirs would act with your rights
   */
  public void createTable(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      Database database = of(connection);
      statement.execute(creation(database));
      refusePlanted(connection, database);
    } catch (SQLException e) {
      throw failure("Creating the table of the fence failed", e);
    }
  }

  private void refusePlanted(Connection connection, Database database) throws SQLException {
    Map<String, String> words = tables.words(List.of("fences"));
    words.put("all_rows", "");
    Sql.Form planted = Sql.read(folder(database), "planted", words, false).form(1);
    List<String> found = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(planted.text())) {
      for (int place : places(planted, "trusted")) {
        statement.setString(place, tables.owner());
      }
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(rows.getString(1));
        }
      }
    }
    if (!found.isEmpty()) {
      throw new StoreRefusedException(
          "The table of the fence may have been tampered with: "
              + String.join(", ", found)
              + "; drop what is not yours, or keep the table in a schema of its own",
          null);
    }
  }

  /**
   * Creates the table, if need be. In PostgreSQL, "if not exists" alone fails when another does so
   * at the same moment, and a transaction with it.
   */
  private String creation(Database database) {
    String create = Sql.text(folder(database), "fence-schema", words(database));
    return database != Database.POSTGRESQL
        ? create
        : """
          DO $create$ BEGIN
          %s;
          EXCEPTION WHEN unique_violation OR duplicate_table THEN NULL;
          END $create$
          """
            .formatted(create);
  }

  /**
   * Lets a token pass, and remembers it if the transaction commits: one statement, in MySQL two.
   *
   * @param connection in a transaction: one that commits each statement by itself would make the
   *     check a step of its own
   * @param resource 1 to 200 bytes of UTF-8
   * @throws StaleTokenException if a larger token has passed before; roll back
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public void check(Connection connection, String resource, FencingToken token) {
    try {
      if (connection.getAutoCommit()) {
        throw new InvalidSettingException(
            "autoCommit", true, "check and write must commit together: set it to false");
      }
      judge(connection, resource, token, checks);
    } catch (SQLException e) {
      throw failure("Checking a token for '%s' failed".formatted(resource), e);
    }
  }

  /**
   * Returns the fence alone, where what is guarded is not in this database, or its transaction is
   * not at hand. Check and write are then two steps: see {@link Fence}.
   *
   * <p>A check is a transaction of its own, unless the data source hands out the connection of a
   * transaction that the caller is in, as frameworks have it: then it takes part in that one, and
   * never ends it. A connection in a transaction is told by that it does not commit by itself,
   * while those of other threads do: where no check before has met a connection that commits by
   * itself, this takes a second connection for a moment. With a pool whose connections never do,
   * every check is a transaction of its own, on a thread of its own, and needs a connection beside
   * that of the caller's transaction: have more connections than callers, or let them commit by
   * themselves.
   *
   * <p>A check of PostgreSQL is on disk before it is answered, whatever {@code synchronous_commit}
   * says, since what is guarded may be elsewhere and outlive a crash of the database; so is the
   * caller's transaction that it takes part in. MariaDB and MySQL flush as {@code
   * innodb_flush_log_at_trx_commit} says, SQLite as {@code PRAGMA synchronous}: a crash may take
   * the last marks back unless these are 1 and FULL.
   */
  public Fence over(DataSource dataSource) {
    return new DataSourceFence(
        Objects.requireNonNull(dataSource, "dataSource"),
        (connection, resource, token) -> judge(connection, resource, token, lastingChecks));
  }

  /**
   * Forgets the resources that were not written for so long. A writer that was overtaken even
   * before that would pass afterwards: choose much more than any process can be thought to sleep.
   *
   * @param unused at least an hour
   * @return how many were forgotten
   */
  public int prune(Connection connection, Duration unused) {
    if (unused.compareTo(SHORTEST_MEMORY) < 0) {
      throw new InvalidSettingException(
          "unused", unused, "it must be at least " + Durations.show(SHORTEST_MEMORY));
    }
    try {
      Sql.Form prune = sql(of(connection), "fence-prune", "").form(1);
      try (PreparedStatement statement = connection.prepareStatement(prune.text())) {
        for (int place : places(prune, "before")) {
          statement.setBytes(place, Tables.BEFORE_ALL_NAMES);
        }
        set(statement, prune, "unused", unused.toSeconds());
        return statement.executeUpdate();
      }
    } catch (SQLException e) {
      throw failure("Pruning the fence failed", e);
    }
  }

  private void judge(
      Connection connection, String resource, FencingToken token, Map<Database, Sql> statements)
      throws SQLException {
    byte[] name = bytes(resource);
    Database database = of(connection);
    Sql.Form check = Objects.requireNonNull(statements.get(database)).form(1);
    FenceMarks now;
    try (PreparedStatement statement = connection.prepareStatement(check.text())) {
      for (int place : places(check, "resource")) {
        statement.setBytes(place, name);
      }
      set(statement, check, "exclusive", token.exclusive() ? token.value() : 0);
      set(statement, check, "token", token.value());
      if (database == Database.MYSQL) {
        statement.executeUpdate();
        now = marks(connection, name);
      } else {
        now = marks(statement);
      }
    }
    if (!now.admits(token)) {
      throw notices.refused(resource, token, now.markFor(token));
    }
    notices.accepted(resource, token);
  }

  private static FenceMarks marks(PreparedStatement statement) throws SQLException {
    try (ResultSet marks = statement.executeQuery()) {
      if (!marks.next()) {
        throw new SQLException("the row of the resource was pruned meanwhile", "40001");
      }
      return new FenceMarks(marks.getLong(1), marks.getLong(2));
    }
  }

  /** The marks, where the statement that writes them can't return them. */
  private FenceMarks marks(Connection connection, byte[] name) throws SQLException {
    try (PreparedStatement read = connection.prepareStatement(marks.form(1).text())) {
      read.setBytes(1, name);
      return marks(read);
    }
  }

  private static byte[] bytes(String resource) {
    try {
      return LockNames.check(resource).getBytes(StandardCharsets.UTF_8);
    } catch (InvalidSettingException e) {
      throw new InvalidSettingException(
          "resource", e.value(), "it must have 1 to 200 bytes, and no control characters");
    }
  }

  private static void set(PreparedStatement statement, Sql.Form form, String name, long value)
      throws SQLException {
    for (int place : places(form, name)) {
      statement.setLong(place, value);
    }
  }

  private static int[] places(Sql.Form form, String name) {
    return Objects.requireNonNull(form.places().get(name), name);
  }

  private Sql sql(Database database, String file, String condition) {
    Map<String, String> words = words(database);
    words.put("condition", condition);
    return Sql.read(folder(database), file, words, false);
  }

  private Map<String, String> words(Database database) {
    Map<String, String> words = new HashMap<>(tables.words());
    words.put("seconds", SECONDS.getOrDefault(database, "0"));
    return words;
  }

  private static String folder(Database database) {
    return switch (database) {
      case SQLITE -> "sqlite";
      case POSTGRESQL -> "postgresql";
      case MARIADB -> "mariadb";
      case MYSQL -> "mysql";
    };
  }

  private static Database of(Connection connection) throws SQLException {
    return Database.of(connection.getMetaData());
  }

  static StoreUnavailableException failure(String what, SQLException e) {
    return new StoreUnavailableException("jdbc", what + ": " + e.getMessage(), e);
  }
}
