package io.fenceline.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** SQLite: one writer at a time, and no clock of its own. */
public final class SqliteDialect extends Dialect {
  public static final int BUSY = 5;
  private static final int READONLY = 8;
  private static final int IOERR = 10;
  private static final int CORRUPT = 11;
  private static final int FULL = 13;
  private static final int CANTOPEN = 14;
  private static final int NOTADB = 26;

  public SqliteDialect() {
    super(
        "sqlite",
        "SQLite",
        Map.of(
            "now", ":now",
            "clock_number", "max(1, (:now - {epoch}) * 2 / 125)",
            "greater", "max",
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
  boolean hasUncontendedClaim() {
    return true;
  }

  @Override
  boolean hasTurn() {
    return true;
  }

  /** Nobody else writes meanwhile, and no answer is under way: the process itself writes. */
  @Override
  public boolean hasTurnsOfSeveral() {
    return true;
  }

  /** A transaction that began by reading could not turn to writing while another one writes. */
  @Override
  public void begin(Connection connection) throws SQLException {
    run(connection, "BEGIN IMMEDIATE");
  }

  /** Inside a transaction it could not be changed any more. */
  @Override
  public void flush(Connection connection, boolean surely) throws SQLException {
    run(connection, "PRAGMA synchronous = " + (surely ? "FULL" : "NORMAL"));
  }

  @Override
  boolean isNoTables(SQLException e) {
    return String.valueOf(e.getMessage()).contains("no such table");
  }

  /** Whether someone else writes to the file. */
  public static boolean isBusy(SQLException e) {
    return e.getErrorCode() == BUSY;
  }

  /**
   * Whether a transaction has read before another one wrote: it can't write any more, however often
   * it tries. The driver gives it the code of a file that is locked.
   */
  public static boolean isOfAnOldSnapshot(SQLException e) {
    return String.valueOf(e.getMessage()).contains("SQLITE_BUSY_SNAPSHOT");
  }

  @Override
  public boolean isRefusal(SQLException e) {
    return switch (e.getErrorCode()) {
      case READONLY, CORRUPT, FULL, CANTOPEN, NOTADB -> true;
      default -> false;
    };
  }

  @Override
  public @Nullable String meaning(SQLException e) {
    return switch (e.getErrorCode()) {
      case BUSY ->
          "another process has kept the file locked for too long, such as a process that is stopped"
              + " or hangs in the middle of a write";
      case READONLY -> "the file or its folder can't be written; give this user the right to";
      case IOERR -> "reading or writing the file failed; is the disk full, or the file gone?";
      case CORRUPT -> "the file is damaged; use another one";
      case FULL -> "the disk is full; free space there";
      case CANTOPEN -> "the file can't be opened; is its folder there, and may it be written?";
      case NOTADB -> "the file is not an SQLite database; use another one";
      default -> null;
    };
  }
}
