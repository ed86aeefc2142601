package io.fenceline.recipes.ratelimit;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.support.SqlTable;
import io.fenceline.recipes.support.Texts;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits in SQLite, PostgreSQL or MariaDB, by the clock of the database.
 *
 * <pre>{@code
 * SqlRates rates = SqlRates.over(dataSource);
 * rates.createTable();
 * }</pre>
 *
 * <p>A limit is one row of the table {@code fenceline_rates}. Each decision is one statement, with
 * a commit of its own: a client that pauses keeps nobody waiting at the row. Rows of which nothing
 * counts any more are removed as permits are taken.
 *
 * <p>Hand in a data source that does not take part in your transactions. Permits are as durable as
 * a commit is. A database clock that is set forward may admit up to n too many, once. SQLite counts
 * in milliseconds; give it a {@code busy_timeout}.
 */
public final class SqlRates extends RateStore {
  private static final Logger LOG = LoggerFactory.getLogger(RateLimit.class);
  private static final int VERSION = 1;
  private static final SqlTable TABLE =
      new SqlTable("fenceline_rates", "SqlRates.createTable", VERSION, "");
  private static final int SWEEP_AFTER = 1_000;
  private static final int SWEPT_AT_ONCE = 500;

  /** A row may come and go, and a transaction be chosen as a victim, but not each time. */
  private static final int TRIES = 10;

  private static final int OTHER_USE = -1;

  private final DataSource dataSource;
  private final SqlTable table;
  private final AtomicInteger sinceSweep = new AtomicInteger();
  private volatile @Nullable Statements statements;

  /** The statements in the words of a database. */
  private record Statements(
      String schema, String strict, String smooth, String find, String sweep, boolean isMariaDb) {

    static Statements of(String product) {
      String database = product.toLowerCase(Locale.ROOT);
      Map<String, String> words = new HashMap<>(words(database, product));
      words.put("table", TABLE.name());
      words.put("index", "fenceline_rates_expiry");
      words.put("version", Integer.toString(VERSION));
      words.put("never", Long.toString(Long.MAX_VALUE));
      boolean isMariaDb = database.equals("mariadb");
      String suffix = isMariaDb ? "-mariadb.sql" : ".sql";
      return new Statements(
          Texts.read(SqlRates.class, "schema.sql", words),
          Texts.read(SqlRates.class, "strict" + suffix, words),
          Texts.read(SqlRates.class, "smooth" + suffix, words),
          Texts.read(SqlRates.class, "find.sql", words),
          Texts.read(SqlRates.class, "sweep" + suffix, words),
          isMariaDb);
    }

    private static Map<String, String> words(String database, String product) {
      return switch (database) {
        case "sqlite" ->
            Map.of(
                "now",
                "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000",
                "bytes",
                "blob",
                "text",
                "text",
                "engine",
                "",
                "no_name",
                "x''",
                "or_nothing",
                "ON CONFLICT (name) DO NOTHING",
                "greatest",
                "max",
                "skip",
                "",
                "marks",
                "SELECT json_extract(value, '$[0]') AS mark, json_extract(value, '$[1]') AS permits"
                    + " FROM json_each(r.marks)",
                "list",
                "'[' || group_concat('[' || mark || ',' || permits || ']', ',') || ']'");
        case "postgresql" ->
            Map.of(
                "now",
                "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
                "bytes",
                "bytea",
                "text",
                "text",
                "engine",
                "",
                "no_name",
                "''",
                "or_nothing",
                "ON CONFLICT (name) DO NOTHING",
                "greatest",
                "greatest",
                "skip",
                "FOR UPDATE SKIP LOCKED",
                "marks",
                "SELECT CAST(value ->> 0 AS bigint) AS mark, CAST(value ->> 1 AS bigint) AS permits"
                    + " FROM json_array_elements(CAST(r.marks AS json))",
                "list",
                "'[' || string_agg('[' || mark || ',' || permits || ']', ',') || ']'");
        case "mariadb" ->
            Map.of(
                "now",
                "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
                "bytes",
                "varbinary(200)",
                "text",
                "longtext",
                "engine",
                " ENGINE = InnoDB",
                "no_name",
                "''",
                "or_nothing",
                "ON DUPLICATE KEY UPDATE kind = kind",
                "marks",
                "JSON_TABLE(r_marks, '$[*]' COLUMNS"
                    + " (mark BIGINT PATH '$[0]', permits BIGINT PATH '$[1]'))");
        default ->
            throw new InvalidSettingException(
                "database", product, "limits can be in SQLite, PostgreSQL and MariaDB");
      };
    }
  }

  private SqlRates(DataSource dataSource, SqlTable table) {
    this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
    this.table = table;
  }

  /** Limits in the table {@code fenceline_rates}. */
  public static SqlRates over(DataSource dataSource) {
    return new SqlRates(dataSource, TABLE);
  }

  /**
   * Which role the table may belong to in PostgreSQL, where it is neither this user's, nor a role
   * of its own, nor a superuser, nor the owner of the schema or the database. A table of anybody
   * else is refused.
   */
  public SqlRates tableOwnedBy(String role) {
    return new SqlRates(dataSource, table.ownedBy(role));
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
        "Creating the table of the rate limits failed");
  }

  @Override
  String kind() {
    return "sql";
  }

  /** The statements; the first time it is seen that the table is there, and of this version. */
  private Statements checked(Connection connection) throws SQLException {
    Statements known = statements;
    if (known != null) {
      return known;
    }
    Statements found = Statements.of(connection.getMetaData().getDatabaseProductName());
    table.check(connection, found.find, 2);
    statements = found;
    return found;
  }

  @Override
  Answer take(String name, Allowance terms, int permits, long longestWaitMicros, Time time) {
    byte[] key = name.getBytes(StandardCharsets.UTF_8);
    Answer answer = null;
    try (Connection connection = dataSource.getConnection()) {
      Statements sql = checked(connection);
      for (int i = 0; i < TRIES && answer == null; i++) {
        answer = once(connection, sql, key, name, terms, permits, longestWaitMicros, i + 1 < TRIES);
      }
    } catch (SQLException e) {
      throw SqlTable.failure("Taking permits failed, although they may have been taken", e);
    }
    if (answer == null) {
      throw new StoreUnavailableException(
          "jdbc",
          "Others created and removed the row of rate limit '%s' %d times; try again"
              .formatted(name, TRIES),
          null);
    }
    if (answer.taken() && sinceSweep.incrementAndGet() >= SWEEP_AFTER) {
      sinceSweep.set(0);
      time.lane(Lane.UNDO).execute(this::sweep);
    }
    return answer;
  }

  /** One try; null if it has to be done again. */
  private static @Nullable Answer once(
      Connection connection,
      Statements sql,
      byte[] key,
      String name,
      Allowance terms,
      int permits,
      long longestWaitMicros,
      boolean mayRepeat)
      throws SQLException {
    boolean commits = connection.getAutoCommit();
    Answer answer = null;
    Long[] inUse = null;
    try {
      answer = run(connection, sql, key, terms, permits, longestWaitMicros);
      if (answer != null && answer.waitMicros() == OTHER_USE) {
        answer = null;
        inUse = find(connection, sql, key);
      }
      if (!commits) {
        connection.commit();
      }
    } catch (SQLException e) {
      if (!commits) {
        connection.rollback();
      }
      // The database has undone it, to let another transaction go first: nothing was taken.
      if (mayRepeat && "40001".equals(e.getSQLState())) {
        return null;
      }
      throw e;
    }
    if (inUse != null && (inUse[0] != terms.kind() || inUse[1] != terms.periodMicros())) {
      throw otherUse(name, terms, inUse[0].intValue(), inUse[1]);
    }
    return answer;
  }

  private static Long @Nullable [] find(Connection connection, Statements sql, byte[] key)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.find)) {
      statement.setBytes(1, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? new Long[] {row.getLong(1), row.getLong(2)} : null;
      }
    }
  }

  private static @Nullable Answer run(
      Connection connection,
      Statements sql,
      byte[] key,
      Allowance terms,
      int permits,
      long longestWaitMicros)
      throws SQLException {
    long first = terms.isSmooth() ? terms.intervalMicros() : terms.permits();
    long third = terms.isSmooth() ? terms.burst() : terms.grainMicros();
    try (PreparedStatement statement =
        connection.prepareStatement(terms.isSmooth() ? sql.smooth : sql.strict)) {
      int next = 1;
      if (!sql.isMariaDb) {
        statement.setBytes(next++, key);
      }
      statement.setLong(next++, terms.periodMicros());
      statement.setLong(next++, first);
      statement.setLong(next++, permits);
      statement.setLong(next++, third);
      statement.setLong(next++, longestWaitMicros);
      if (sql.isMariaDb) {
        statement.setBytes(next, key);
      }
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return new Answer(false, OTHER_USE, 0);
        }
        int taken = row.getInt(1);
        if (row.wasNull()) {
          return null; // The name was not there before.
        }
        return taken < 0
            ? new Answer(false, OTHER_USE, 0)
            : new Answer(taken == 1, row.getLong(2), row.getLong(3));
      }
    }
  }

  private void sweep() {
    try (Connection connection = dataSource.getConnection()) {
      boolean commits = connection.getAutoCommit();
      Statements sql = checked(connection);
      int swept = SWEPT_AT_ONCE;
      while (swept == SWEPT_AT_ONCE) {
        try (PreparedStatement statement = connection.prepareStatement(sql.sweep)) {
          statement.setInt(1, SWEPT_AT_ONCE);
          swept = statement.executeUpdate();
        }
        if (!commits) {
          connection.commit();
        }
      }
    } catch (SQLException | RuntimeException e) {
      LOG.warn("Old rate limits were not swept; it is tried again after {} more", SWEEP_AFTER, e);
    }
  }
}
