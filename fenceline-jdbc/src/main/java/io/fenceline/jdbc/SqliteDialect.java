package io.fenceline.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** SQLite: one writer at a time, and no clock of its own. */
final class SqliteDialect extends Dialect {
  static final int BUSY = 5;
  private static final int READONLY = 8;
  private static final int IOERR = 10;
  private static final int CORRUPT = 11;
  private static final int FULL = 13;
  private static final int CANTOPEN = 14;
  private static final int NOTADB = 26;

  SqliteDialect() {
    super(
        "sqlite",
        "SQLite",
        Map.of(
            "now", ":now",
            "clock_number", "max(1, (:now - {epoch}) * 2 / 125)",
            "for_update", "",
            "unless_stopped", "",
            "durable_if_granted", ":durable >= 0",
            "or_nothing", "ON CONFLICT DO NOTHING"));
  }

  @Override
  boolean numbersParameters() {
    return true;
  }

  @Override
  boolean hasTake() {
    return true;
  }

  /** A transaction that began by reading could not turn to writing while another one writes. */
  @Override
  void begin(Connection connection) throws SQLException {
    run(connection, "BEGIN IMMEDIATE");
  }

  @Override
  boolean isNoTables(SQLException e) {
    return String.valueOf(e.getMessage()).contains("no such table");
  }

  @Override
  @Nullable String meaning(SQLException e) {
    return switch (e.getErrorCode()) {
      case BUSY ->
          "another process has kept the file locked for too long, such as a process that is stopped"
              + " or hangs in the middle of a write";
      case READONLY -> "the file or its folder can't be written";
      case IOERR -> "reading or writing the file failed; is the disk full, or the file gone?";
      case CORRUPT -> "the file is damaged";
      case FULL -> "the disk is full";
      case CANTOPEN -> "the file can't be opened; is its folder there, and may it be written?";
      case NOTADB -> "the file is not an SQLite database";
      default -> null;
    };
  }
}
