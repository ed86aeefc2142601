package io.fenceline.jdbc.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection while we have it: runs statements with named parameters.
 *
 * <p>Not thread-safe; whoever has borrowed it uses it alone.
 */
public final class SqlConnection {
  /** Where the database has no clock of its own, this one is a parameter of each statement. */
  private final @Nullable LongSupplier clockMicros;

  private final Connection connection;
  private final @Nullable Map<String, PreparedStatement> kept;

  /** Reads one row. */
  @FunctionalInterface
  public interface RowReader<T extends @Nullable Object> {
    T read(ResultSet row) throws SQLException;
  }

  /**
   * A session.
   *
   * @param keepsStatements whether prepared statements are kept for the life of the session, where
   *     the driver does not do that by itself
   */
  public SqlConnection(
      Connection connection, @Nullable LongSupplier clockMicros, boolean keepsStatements) {
    this.connection = connection;
    this.clockMicros = clockMicros;
    this.kept = keepsStatements ? new HashMap<>() : null;
  }

  public Connection connection() {
    return connection;
  }

  /** Starts a statement without lists. */
  public Call call(Sql sql) throws SQLException {
    return call(sql, 1);
  }

  /** Starts a statement without lists, whose generated key may be wanted: see {@link Call#key}. */
  public Call call(Sql sql, boolean wantsKey) throws SQLException {
    return call(sql, 1, wantsKey);
  }

  /** Starts a statement with lists of this length. */
  public Call call(Sql sql, int listLength) throws SQLException {
    return call(sql, listLength, false);
  }

  private Call call(Sql sql, int listLength, boolean wantsKey) throws SQLException {
    Sql.Form form = sql.form(listLength);
    PreparedStatement statement = kept == null ? null : kept.get(form.text());
    if (statement == null) {
      statement =
          wantsKey
              ? connection.prepareStatement(form.text(), Statement.RETURN_GENERATED_KEYS)
              : connection.prepareStatement(form.text());
      if (kept != null) {
        kept.put(form.text(), statement);
      }
    }
    Call call = new Call(statement, form, kept);
    if (clockMicros != null && form.places().containsKey("now")) {
      call.set("now", clockMicros.getAsLong());
    }
    return call;
  }

  /** A statement whose parameters are being set. */
  public static final class Call {
    private final PreparedStatement statement;
    private final Sql.Form form;
    private final @Nullable Map<String, PreparedStatement> kept;
    private boolean failed = true;

    private Call(
        PreparedStatement statement, Sql.Form form, @Nullable Map<String, PreparedStatement> kept) {
      this.statement = statement;
      this.form = form;
      this.kept = kept;
    }

    private int[] places(String parameter) {
      int[] places = form.places().get(parameter);
      if (places == null) {
        throw new IllegalArgumentException("no parameter " + parameter + " in " + form.text());
      }
      return places;
    }

    public boolean has(String parameter) {
      return form.places().containsKey(parameter);
    }

    public Call set(String parameter, long value) throws SQLException {
      for (int place : places(parameter)) {
        statement.setLong(place, value);
      }
      return this;
    }

    public Call set(String parameter, byte @Nullable [] value) throws SQLException {
      for (int place : places(parameter)) {
        statement.setBytes(place, value);
      }
      return this;
    }

    public Call set(String parameter, String value) throws SQLException {
      for (int place : places(parameter)) {
        statement.setString(place, value);
      }
      return this;
    }

    /** Sets a list; the last element fills up what the statement has room for. */
    public Call set(String parameter, List<byte[]> values) throws SQLException {
      int[] places = places(parameter);
      for (int i = 0; i < places.length; i++) {
        statement.setBytes(places[i], values.get(Math.min(i % form.room(), values.size() - 1)));
      }
      return this;
    }

    /** As above, for numbers. */
    public Call setNumbers(String parameter, List<Long> values) throws SQLException {
      int[] places = places(parameter);
      for (int i = 0; i < places.length; i++) {
        statement.setLong(places[i], values.get(Math.min(i % form.room(), values.size() - 1)));
      }
      return this;
    }

    /** Runs a statement that returns rows. */
    public <T extends @Nullable Object> List<T> rows(RowReader<T> reader) throws SQLException {
      try (ResultSet rows = statement.executeQuery()) {
        List<T> read = new java.util.ArrayList<>();
        while (rows.next()) {
          read.add(reader.read(rows));
        }
        failed = false;
        return read;
      } finally {
        done();
      }
    }

    /**
     * Runs a statement that returns at most one row, to its end: SQLite moves its log into the
     * database after statements that have ended, not after those that were left at a row.
     */
    public <T> @Nullable T row(RowReader<T> reader) throws SQLException {
      try (ResultSet rows = statement.executeQuery()) {
        T read = rows.next() ? reader.read(rows) : null;
        while (read != null && rows.next()) {
          // There is none.
        }
        failed = false;
        return read;
      } finally {
        done();
      }
    }

    /** Runs a statement that generates a key; null if it has generated none. */
    public @Nullable Long key() throws SQLException {
      try {
        statement.executeUpdate();
        try (ResultSet keys = statement.getGeneratedKeys()) {
          long key = keys.next() ? keys.getLong(1) : 0;
          failed = false;
          return key == 0 ? null : Long.valueOf(key);
        }
      } finally {
        done();
      }
    }

    /** Runs a statement that returns no rows, and gives how many it changed. */
    public int update() throws SQLException {
      try {
        int changed = statement.executeUpdate();
        failed = false;
        return changed;
      } finally {
        done();
      }
    }

    /**
     * A statement that has failed is prepared anew: after some failures, such as that of a full
     * disk, SQLite's driver has ended it, and says that it is open.
     */
    private void done() throws SQLException {
      if (kept == null) {
        statement.close();
      } else if (failed) {
        kept.remove(form.text());
        statement.close();
      }
    }
  }
}
