package io.fenceline.jdbc;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.FenceNotices;
import io.fenceline.settings.InvalidSettingException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Fences rows of a table of yours by a column of theirs, for those who want no other table.
 *
 * <pre>{@code
 * // ALTER TABLE accounts ADD COLUMN fence BIGINT
 * FencedRow account = FencedRow.of("accounts", "id", "fence");
 *
 * connection.setAutoCommit(false);
 * account.check(connection, 42, hold.fencingToken());
 * // write the row, and what belongs to it, then
 * connection.commit();
 * }</pre>
 *
 * <p>The check is one statement, {@code UPDATE accounts SET fence = ? WHERE id = ? AND (fence IS
 * NULL OR fence <= ?)}, which also locks the row until your transaction ends. You may write the
 * condition and the assignment into an update of your own instead, which then costs no statement at
 * all, and have its count judged by {@link #verify}. Correct at READ COMMITTED and above. A refused
 * check costs a second statement, which reads the larger token. Check before you read what your
 * writes depend on: until your token has passed, an older holder that is still at work can commit.
 *
 * <p>One column is one mark, so only exclusive tokens are taken. What is kept goes with the row: a
 * stale writer that inserts a deleted row again is not noticed. Immutable and thread-safe.
 */
public final class FencedRow {
  private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private final String table;
  private final String id;
  private final String column;
  private final FenceNotices notices;

  /** Whether the column was seen to have room for tokens. */
  private volatile boolean roomy;

  private FencedRow(String table, String id, String column, FenceNotices notices) {
    this.table = table;
    this.id = id;
    this.column = column;
    this.notices = notices;
  }

  /**
   * Rows of a table.
   *
   * @param table may have its schema before it, with a dot
   * @param id the column that identifies a row
   * @param column a column of 64-bit integers for the token, which the first check makes sure of by
   *     a statement more; null means that there was none yet. In SQLite, too, its declared type
   *     must be BIGINT or another one of integers: a TEXT column would compare tokens as texts
   */
  public static FencedRow of(String table, String id, String column) {
    for (String part : table.split("\\.", -1)) {
      check("table", part);
    }
    check("id", id);
    check("column", column);
    return new FencedRow(table, id, column, FenceNotices.of("row"));
  }

  private static void check(String setting, String word) {
    if (!WORD.matcher(word).matches()) {
      throw new InvalidSettingException(
          setting, word, "it becomes part of a statement: only letters, digits and _");
    }
  }

  /** Tells one more listener what is accepted and refused. */
  public FencedRow listener(FenceListener listener) {
    return new FencedRow(table, id, column, notices.with(listener));
  }

  /**
   * Lets a token pass, and remembers it in the row if the transaction commits.
   *
   * @param row the row's id, as {@link PreparedStatement#setObject} takes it
   * @throws StaleTokenException if the row has a larger token; roll back
   * @throws InvalidSettingException if there is no such row, the token is a shared one, or the
   *     column has no room for tokens
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public void check(Connection connection, Object row, FencingToken token) {
    requireExclusive(token);
    String update =
        "UPDATE %s SET %s = ? WHERE %s = ? AND (%s IS NULL OR %s <= ?)"
            .formatted(table, column, id, column, column);
    try {
      requireTransaction(connection);
      requireRoom(connection);
      int updated;
      try (PreparedStatement statement = connection.prepareStatement(update)) {
        statement.setLong(1, token.value());
        statement.setObject(2, row);
        statement.setLong(3, token.value());
        updated = statement.executeUpdate();
      }
      judge(connection, row, token, updated);
    } catch (SQLException e) {
      throw JdbcFence.failure("Checking a token for " + resource(row) + " failed", e);
    }
  }

  /**
   * Judges the count of an update of your own that had the same condition and assignment.
   *
   * @param updated how many rows it has changed
   * @throws StaleTokenException if it was none because the row has a larger token; roll back
   * @throws InvalidSettingException if there is no such row, the token is a shared one, or the
   *     column has no room for tokens
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public void verify(Connection connection, Object row, FencingToken token, int updated) {
    requireExclusive(token);
    try {
      requireRoom(connection);
      judge(connection, row, token, updated);
    } catch (SQLException e) {
      throw JdbcFence.failure("Checking a token for " + resource(row) + " failed", e);
    }
  }

  private void judge(Connection connection, Object row, FencingToken token, int updated)
      throws SQLException {
    if (updated == 0) {
      long accepted = read(connection, row);
      // MariaDB may be told to count changed rows only, and the same token changes nothing.
      if (accepted != token.value()) {
        throw notices.refused(resource(row), token, accepted);
      }
    }
    notices.accepted(resource(row), token);
  }

  /** The token of the row as it is now, not as it was when the transaction began. */
  private long read(Connection connection, Object row) throws SQLException {
    boolean locks = Database.of(connection.getMetaData()) != Database.SQLITE;
    String query =
        "SELECT %s FROM %s WHERE %s = ?%s".formatted(column, table, id, locks ? " FOR UPDATE" : "");
    try (PreparedStatement statement = connection.prepareStatement(query)) {
      statement.setObject(1, row);
      try (ResultSet found = statement.executeQuery()) {
        if (!found.next()) {
          throw new InvalidSettingException("row", resource(row), "there is no such row");
        }
        return found.getLong(1);
      }
    }
  }

  private String resource(Object row) {
    return table + "/" + row;
  }

  private static void requireExclusive(FencingToken token) {
    if (!token.exclusive()) {
      throw new InvalidSettingException(
          "shared token",
          token.value(),
          "FencedRow checks tokens of exclusive locks only; use JdbcFence for those of shared ones");
    }
  }

  /**
   * Without strict mode, MariaDB stores the largest number that a small column has room for instead
   * of the token, and every later one passes. SQLite turns the token into what the column's
   * declared type says: a text, of which 99999 is larger than 100000, or a rounded number.
   */
  private void requireRoom(Connection connection) throws SQLException {
    if (roomy) {
      return;
    }
    String nothing = "SELECT %s FROM %s WHERE 1 = 0".formatted(column, table);
    try (PreparedStatement look = connection.prepareStatement(nothing)) {
      if (Database.of(connection.getMetaData()) == Database.SQLITE) {
        // Not executed: it would begin to read, and SQLite refuses to write if another one has
        // written since.
        String type = look.getMetaData().getColumnTypeName(1);
        requireRoom(isRoomyInSqlite(type), type);
      } else {
        try (ResultSet none = look.executeQuery()) {
          requireRoom(isRoomy(none.getMetaData()), none.getMetaData().getColumnTypeName(1));
        }
      }
    }
    roomy = true;
  }

  private void requireRoom(boolean isRoomy, String type) {
    if (!isRoomy) {
      throw new InvalidSettingException(
          "column",
          column,
          "its type %s can't hold every 64-bit token; it must be BIGINT".formatted(type));
    }
  }

  /**
   * Whether whole numbers stay what they are. SQLite looks for these parts in the declared type,
   * for INT first; where it finds none, numbers stay, too.
   */
  private static boolean isRoomyInSqlite(String declared) {
    String type = declared.toUpperCase(Locale.ROOT);
    return type.contains("INT")
        || Stream.of("CHAR", "CLOB", "TEXT", "REAL", "FLOA", "DOUB").noneMatch(type::contains);
  }

  private static boolean isRoomy(ResultSetMetaData about) throws SQLException {
    int digits = about.getPrecision(1);
    int scale = about.getScale(1);
    return switch (about.getColumnType(1)) {
      case Types.BIGINT -> true;
      // PostgreSQL has no precision for a number of any length, and rounds where the scale is
      // negative.
      case Types.NUMERIC, Types.DECIMAL -> digits == 0 || (scale >= 0 && digits - scale >= 19);
      default -> false;
    };
  }

  private static void requireTransaction(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new InvalidSettingException(
          "autoCommit", true, "check and write must commit together: set it to false");
    }
  }
}
