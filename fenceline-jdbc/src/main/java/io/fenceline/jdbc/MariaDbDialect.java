package io.fenceline.jdbc;

import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** MariaDB; and MySQL, which can't return what a statement has written, and was not tested. */
final class MariaDbDialect extends Dialect {
  private static final int TABLE_ACCESS_DENIED = 1142;
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

  private final boolean isMySql;

  MariaDbDialect(boolean isMySql) {
    super(
        "mariadb",
        isMySql ? "MySQL" : "MariaDB",
        Map.of(
            // Statement time, in UTC: local time repeats an hour each autumn.
            "now", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
            "clock_number", "GREATEST(1, ({now} - {epoch}) * 2 DIV 125)",
            "free", "(others = 0 AND (owner IS NULL OR ends <= {now}))",
            "for_update", "FOR UPDATE",
            "or_nothing", "ON DUPLICATE KEY UPDATE others = others",
            "unless_stopped", "",
            "durable_if_granted", ":durable >= 0"));
    this.isMySql = isMySql;
  }

  @Override
  boolean hasOneStatementClaim() {
    return !isMySql;
  }

  @Override
  boolean returnsUpdatedRows() {
    return false;
  }

  @Override
  boolean isRetry(SQLException e) {
    return e.getErrorCode() == DEADLOCK || e.getErrorCode() == CHANGED_SINCE_READ;
  }

  @Override
  boolean isNoTables(SQLException e) {
    return e.getErrorCode() == NO_SUCH_TABLE;
  }

  @Override
  @Nullable String meaning(SQLException e) {
    return switch (e.getErrorCode()) {
      case OPTION_PREVENTS, READ_ONLY_TRANSACTION, READ_ONLY_MODE ->
          "the server may only be read; locks need the primary";
      case TABLE_ACCESS_DENIED, DATABASE_ACCESS_DENIED ->
          "the user may not do that; see JdbcStore.schema() for what is needed";
      case LOGIN_DENIED -> "the server refused the login";
      case UNKNOWN_DATABASE -> "there is no such database";
      case NO_SUCH_TABLE -> "the tables are not there";
      case LOCK_WAIT_TIMEOUT -> "another transaction has kept the row locked for too long";
      case DISK_FULL, TABLE_FULL -> "the server's disk is full";
      default ->
          String.valueOf(e.getSQLState()).startsWith("08")
              ? "the server can't be reached or did not answer"
              : null;
    };
  }
}
