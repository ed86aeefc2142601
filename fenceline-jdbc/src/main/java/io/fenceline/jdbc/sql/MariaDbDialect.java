package io.fenceline.jdbc.sql;

import static java.util.Map.entry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** MariaDB, and what MySQL has in common with it: errors, and how a transaction ends. */
public class MariaDbDialect extends Dialect {
  private static final int TABLE_ACCESS_DENIED = 1142;
  private static final int COLUMN_ACCESS_DENIED = 1143;
  private static final int DATABASE_ACCESS_DENIED = 1044;
  private static final int LOGIN_DENIED = 1045;
  private static final int UNKNOWN_DATABASE = 1049;
  private static final int NO_SUCH_TABLE = 1146;
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int DEADLOCK = 1213;
  private static final int OPTION_PREVENTS = 1290;
  private static final int READ_ONLY_TRANSACTION = 1792;
  private static final int READ_ONLY_MODE = 1836;
  private static final int DISK_FULL = 1021;
  private static final int TABLE_FULL = 1114;
  private static final int CHANGED_SINCE_READ = 1020;

  public MariaDbDialect() {
    this(
        "mariadb",
        "MariaDB",
        Map.ofEntries(
            // Statement time, in UTC: local time repeats an hour each autumn.
            entry("now", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"),
            entry("clock_number", "GREATEST(1, ({now} - {epoch}) * 2 DIV 125)"),
            entry("ours", "(owner <=> VALUES(owner))"),
            entry("free", "(others = 0 AND (owner IS NULL OR ends <= {now}))"),
            entry("greater", "GREATEST"),
            entry("for_update", "FOR UPDATE"),
            entry("or_nothing", "ON DUPLICATE KEY UPDATE others = others"),
            entry("unless_stopped", ""),
            // Said by the statement, so that sql_select_limit does not cut holders off.
            entry("all_rows", "LIMIT " + Long.MAX_VALUE),
            // Whoever finds a row locked passes over it, and comes back.
            entry("hurried", "SET STATEMENT innodb_lock_wait_timeout = 0 FOR "),
            entry("patient", "SET STATEMENT innodb_lock_wait_timeout = 1 FOR "),
            entry("bell_of_head", bell("head_client")),
            entry("bell_of_client", bell(":client")),
            entry("durable_if_granted", ":durable >= 0")));
  }

  MariaDbDialect(String folder, String title, Map<String, String> words) {
    super(folder, title, words);
  }

  /** The name of a lock that says which connection to wake; names are the whole server's. */
  private static String bell(String client) {
    return "CONCAT('fl.', LEFT(SHA2(CONCAT_WS(' ', LOWER(COALESCE(NULLIF('{schema}', ''), DATABASE())),"
        + " '{prefix}', SUBSTRING_INDEX("
        + client
        + ", ' ', 1)), 256), 40))";
  }

  @Override
  boolean hasUncontendedClaim() {
    return true;
  }

  /** Other than an insert, an update can't return what it wrote. */
  @Override
  public boolean takesNumberAsKey() {
    return true;
  }

  @Override
  boolean hasTurn() {
    return true;
  }

  @Override
  boolean hasUncontendedRelease() {
    return true;
  }

  @Override
  public boolean namesNext() {
    return true;
  }

  @Override
  public boolean hasTransactionsInStatements() {
    return true;
  }

  @Override
  boolean hasBell() {
    return true;
  }

  // In so many words: where completion_type is CHAIN, a bare COMMIT begins the next transaction,
  // and
  // the grants that follow on the connection are not committed when they are answered.

  @Override
  public void commit(Connection connection) throws SQLException {
    run(connection, "COMMIT AND NO CHAIN NO RELEASE");
  }

  @Override
  public void rollback(Connection connection) throws SQLException {
    run(connection, "ROLLBACK AND NO CHAIN NO RELEASE");
  }

  @Override
  public boolean returnsUpdatedRows() {
    return false;
  }

  @Override
  boolean isRetry(SQLException e) {
    return e.getErrorCode() == DEADLOCK || e.getErrorCode() == CHANGED_SINCE_READ;
  }

  @Override
  public boolean isLocked(SQLException e) {
    return e.getErrorCode() == LOCK_WAIT_TIMEOUT;
  }

  @Override
  public boolean probesRights() {
    return true;
  }

  @Override
  public boolean isDenied(SQLException e) {
    return switch (e.getErrorCode()) {
      case TABLE_ACCESS_DENIED, COLUMN_ACCESS_DENIED, DATABASE_ACCESS_DENIED -> true;
      default -> false;
    };
  }

  @Override
  boolean isNoTables(SQLException e) {
    return e.getErrorCode() == NO_SUCH_TABLE;
  }

  @Override
  public boolean isRefusal(SQLException e) {
    return switch (e.getErrorCode()) {
      case OPTION_PREVENTS,
          READ_ONLY_TRANSACTION,
          READ_ONLY_MODE,
          TABLE_ACCESS_DENIED,
          COLUMN_ACCESS_DENIED,
          DATABASE_ACCESS_DENIED,
          LOGIN_DENIED,
          UNKNOWN_DATABASE,
          NO_SUCH_TABLE,
          DISK_FULL,
          TABLE_FULL ->
          true;
      default -> false;
    };
  }

  @Nullable String ofConnecting(SQLException e) {
    String said = Dialect.said(e);
    if (said.contains("ssl not enabled")) {
      return "the server does not speak TLS; turn it on there, or leave sslMode out";
    } else if (said.contains("PKIX") || said.contains("certification path")) {
      return "the server's certificate is not trusted; name its authority with serverSslCert";
    }
    return String.valueOf(e.getSQLState()).startsWith("08") ? Dialect.notReached(e) : null;
  }

  @Override
  public @Nullable String meaning(SQLException e) {
    return switch (e.getErrorCode()) {
      case OPTION_PREVENTS, READ_ONLY_TRANSACTION, READ_ONLY_MODE ->
          "the server may only be read; locks need the primary";
      case TABLE_ACCESS_DENIED, COLUMN_ACCESS_DENIED, DATABASE_ACCESS_DENIED ->
          "the user may not do that; GRANT what docs/least-rights.md lists";
      case LOGIN_DENIED -> "the server refused the login; check user and password";
      case UNKNOWN_DATABASE -> "there is no such database; create it, or check its name";
      case NO_SUCH_TABLE -> "the tables are not there";
      case LOCK_WAIT_TIMEOUT -> "another transaction has kept the row locked for too long";
      case DISK_FULL, TABLE_FULL -> "the server's disk is full; free space there";
      default -> ofConnecting(e);
    };
  }
}
