package io.fenceline.jdbc.sql;

import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.layout.Units;
import io.fenceline.spi.GrantNumbers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What differs between the databases: words, errors, and how a transaction begins and ends. */
public abstract class Dialect {
  /** How many of those who wait are read at once. */
  public static final int FRONT = 8;

  /** How a failure is to be taken. */
  public enum Failure {
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
    words.put("look_for_turns", Sql.template(folder, "look-for-turns"));
    // A new row starts above all that was forgotten.
    words.put("after_forgotten", "(SELECT f.forgotten + 1 FROM {format} AS f)");
    for (String word : List.of("hurried", "patient", "in_a_hurry", "with_patience")) {
      words.putIfAbsent(word, "");
    }
    words.put("waits_for", "{patient}");
    words.put("waits", "{with_patience}");
    words.putIfAbsent("all_rows", "");
    words.put("front", Integer.toString(FRONT));
    words.put("many", Integer.toString(Sql.LONGEST_LIST));
    words.put("slack", Long.toString(ClaimRow.SLACK_MICROS));
    words.put("max_number", Long.toString(GrantNumbers.MAX));
    words.put("epoch", Long.toString(GrantNumbers.EPOCH_MILLIS * 1_000));
    words.put("whole", Long.toString(Units.WHOLE));
    // Of the holder in the row of a name that is called l.
    words.putIfAbsent("row_number", "l.number");
    words.putIfAbsent("row_since", "l.since");
  }

  /** For people: SQLite, PostgreSQL, MariaDB, MySQL. */
  public final String title() {
    return title;
  }

  /** Adds the names of the tables, and what depends on them. */
  Map<String, String> words(Tables tables) {
    Map<String, String> all = new HashMap<>(words);
    all.putAll(tables.words());
    return all;
  }

  public final Sql sql(String name, Tables tables) {
    return sql(tables).apply(name);
  }

  /** The statements on a set of tables, by the names of their files. */
  final Function<String, Sql> sql(Tables tables) {
    return reading(words(tables));
  }

  /** Statements that fail rather than wait for a row that is locked: see {@link #isLocked}. */
  final Function<String, Sql> hurriedSql(Tables tables) {
    Map<String, String> all = words(tables);
    all.put("waits_for", "{hurried}");
    all.put("waits", "{in_a_hurry}");
    return reading(all);
  }

  private Function<String, Sql> reading(Map<String, String> all) {
    return name -> Sql.read(folder, name, all, numbersParameters());
  }

  /** The statements that create the tables. */
  public final List<String> schema(Tables tables) {
    return Stream.of(Sql.text(folder, "schema", words(tables)).split("(?m)^;$"))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toList();
  }

  /** Whether a statement can name one parameter in several places. */
  boolean numbersParameters() {
    return false;
  }

  /** Whether a name that is alone is taken by a statement of its own: see {@code FastPath}. */
  boolean hasUncontendedClaim() {
    return false;
  }

  /** Whether the number of a grant comes back as the key that the statement generates. */
  public boolean returnsNumberAsKey() {
    return false;
  }

  /** Whether that one's number comes back as a generated key, too. */
  public boolean takesNumberAsKey() {
    return returnsNumberAsKey();
  }

  /** Whether a mutex claim joins a queue, and is granted from it, without reading all of it. */
  boolean hasTurn() {
    return false;
  }

  /** Whether each of these is two statements, in a transaction that the client begins and ends. */
  public boolean hasTurnsOfSeveral() {
    return false;
  }

  /** Whether a name that is alone is given back by a statement of its own: see {@code FastPath}. */
  boolean hasUncontendedRelease() {
    return false;
  }

  /** Whether the statement that gives a name back returns who is next. */
  public boolean namesNext() {
    return returnsUpdatedRows();
  }

  /** Whether a single request to the server may be a transaction of several statements. */
  public boolean hasTransactionsInStatements() {
    return false;
  }

  /** Whether a process that waits is woken by ending a statement in which it sleeps. */
  boolean hasBell() {
    return false;
  }

  /** Whether an update can return the rows that it changed. */
  public boolean returnsUpdatedRows() {
    return true;
  }

  /** Begins a transaction on a connection that commits each statement by itself. */
  public void begin(Connection connection) throws SQLException {
    run(connection, "START TRANSACTION");
  }

  public void commit(Connection connection) throws SQLException {
    run(connection, "COMMIT");
  }

  public void rollback(Connection connection) throws SQLException {
    run(connection, "ROLLBACK");
  }

  /** Rolls back after a failure; a connection that can't even do that is of no more use. */
  public final void giveUp(Connection connection) {
    try {
      rollback(connection);
    } catch (SQLException | RuntimeException e) { // Whatever stands around the driver may throw.
      try {
        connection.abort(Runnable::run);
      } catch (SQLException | RuntimeException stillOpen) {
        // Its transaction ends with it, and its pool notices that it is broken.
      }
    }
  }

  public static void run(Connection connection, String statement) throws SQLException {
    try (Statement once = connection.createStatement()) {
      once.execute(statement);
    }
  }

  /** Whether the database tells which rights a user has. */
  boolean showsRights() {
    return false;
  }

  /** Whether which rights a user has is found out by trying. */
  public boolean probesRights() {
    return false;
  }

  /** Whether the user may not do what was asked. */
  public boolean isDenied(SQLException e) {
    return false;
  }

  /** Whether those who wait are told, inside the transaction that makes room for them. */
  boolean tells() {
    return false;
  }

  public final Failure failure(SQLException e) {
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

  /** Whether a row was locked for longer than the statement could wait. */
  public boolean isLocked(SQLException e) {
    return false;
  }

  /**
   * Says that the next transaction must be on disk when it has committed, or need not any more; for
   * databases that are not told so by a statement inside it.
   */
  public void flush(Connection connection, boolean surely) throws SQLException {}

  abstract boolean isNoTables(SQLException e);

  /** Whether the database has answered, and would answer the same again until someone mends it. */
  public abstract boolean isRefusal(SQLException e);

  /** What the driver says, with the reasons behind it. */
  static String said(SQLException e) {
    StringBuilder all = new StringBuilder();
    Throwable cause = e;
    for (int depth = 0; cause != null && depth < 20; depth++) {
      all.append(cause.getMessage()).append(' ').append(cause.getClass().getSimpleName());
      all.append(' ');
      cause = cause.getCause();
    }
    return all.toString();
  }

  /** Why a server can't be reached. */
  static String notReached(SQLException e) {
    String said = said(e);
    if (said.contains("UnknownHost")) {
      return "the host is not known; check the address";
    } else if (said.contains("ConnectException") || said.contains("onnection refused")) {
      return "nothing listens there; check host and port, and that the server runs";
    }
    return "the server can't be reached or did not answer";
  }

  /** What the failure means, where we know; null otherwise. */
  public abstract @Nullable String meaning(SQLException e);
}
