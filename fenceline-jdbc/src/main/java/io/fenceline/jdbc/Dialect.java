package io.fenceline.jdbc;

import io.fenceline.spi.GrantNumbers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What differs between the databases: words, errors, and how a transaction begins and ends. */
abstract class Dialect {
  /** How many of those who wait are read at once. */
  static final int FRONT = 8;

  /** How a failure is to be taken. */
  enum Failure {
    /**
     * Nothing was done, and doing it again may help at once: a deadlock was resolved against us.
     */
    RETRY,
    /** The tables are not there. */
    NO_TABLES,
    /** Anything else. */
    OTHER
  }

  private final String folder;
  private final String title;
  private final Map<String, String> words;

  Dialect(String folder, String title, Map<String, String> ownWords) {
    this.folder = folder;
    this.title = title;
    this.words = new HashMap<>(ownWords);
    words.put("fits", Sql.template(folder, "fits"));
    words.put("front", Integer.toString(FRONT));
    words.put("slack", Long.toString(NameRecord.SLACK_MICROS));
    words.put("max_number", Long.toString(GrantNumbers.MAX));
    words.put("epoch", Long.toString(GrantNumbers.EPOCH_MILLIS * 1_000));
    words.put("whole", Long.toString(Units.WHOLE));
    // Of the holder in the row of a name that is called l.
    words.putIfAbsent("row_number", "l.number");
    words.putIfAbsent("row_since", "l.since");
  }

  /** For people: SQLite, PostgreSQL, MariaDB. */
  final String title() {
    return title;
  }

  /** Adds the names of the tables, and what depends on them. */
  Map<String, String> words(Tables tables) {
    Map<String, String> all = new HashMap<>(words);
    all.putAll(tables.words());
    return all;
  }

  final Sql sql(String name, Tables tables) {
    return Sql.read(folder, name, words(tables), numbersParameters());
  }

  /** The statements that create the tables. */
  final List<String> schema(Tables tables) {
    return Stream.of(Sql.text(folder, "schema", words(tables)).split("(?m)^;$"))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toList();
  }

  /** Whether a statement can name one parameter in several places. */
  boolean numbersParameters() {
    return false;
  }

  /** Whether a free name is taken by one statement here. */
  boolean hasOneStatementClaim() {
    return true;
  }

  /** Whether a name that is alone is taken by a statement of its own: see {@link ShortWay}. */
  boolean hasTake() {
    return false;
  }

  /** Whether an update can return the rows that it changed. */
  boolean returnsUpdatedRows() {
    return true;
  }

  /** Begins a transaction on a connection that commits each statement by itself. */
  void begin(Connection connection) throws SQLException {
    run(connection, "START TRANSACTION");
  }

  void commit(Connection connection) throws SQLException {
    run(connection, "COMMIT");
  }

  void rollback(Connection connection) throws SQLException {
    run(connection, "ROLLBACK");
  }

  /** Rolls back after a failure; a connection that can't even do that is of no more use. */
  final void giveUp(Connection connection) {
    try {
      rollback(connection);
    } catch (SQLException e) {
      try {
        connection.abort(Runnable::run);
      } catch (SQLException stillOpen) {
        // Its transaction ends with it, and its pool notices that it is broken.
      }
    }
  }

  static void run(Connection connection, String statement) throws SQLException {
    try (Statement once = connection.createStatement()) {
      once.execute(statement);
    }
  }

  /** Whether those who wait are told, inside the transaction that makes room for them. */
  boolean tells() {
    return false;
  }

  final Failure failure(SQLException e) {
    String state = e.getSQLState() == null ? "" : e.getSQLState();
    if (retryStates().contains(state) || isRetry(e)) {
      return Failure.RETRY;
    }
    return isNoTables(e) ? Failure.NO_TABLES : Failure.OTHER;
  }

  Set<String> retryStates() {
    return Set.of("40001", "40P01");
  }

  boolean isRetry(SQLException e) {
    return false;
  }

  abstract boolean isNoTables(SQLException e);

  /** What the failure means, where we know; null otherwise. */
  abstract @Nullable String meaning(SQLException e);
}
