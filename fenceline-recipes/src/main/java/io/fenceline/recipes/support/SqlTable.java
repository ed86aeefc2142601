package io.fenceline.recipes.support;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;

/**
 * The one table of a recipe in SQLite, PostgreSQL or MariaDB: creates it, and sees that it is ours
 * and of the version that we know before it is used.
 *
 * @param name of the table, whose row with the empty name holds the version of the format
 * @param createdBy what people call to create it
 * @param version of the format
 * @param owner a role that it may belong to, beside those that are trusted anyway; or empty
 */
public record SqlTable(String name, String createdBy, int version, String owner) {

  /** The same, which may belong to this role, too. */
  public SqlTable ownedBy(String role) {
    return new SqlTable(name, createdBy, version, role);
  }

  /**
   * Creates it if it is not there.
   *
   * @param schema statements, each with its semicolon
   * @param failed what to say if the database refuses
   * @throws StoreRefusedException if it is there, and somebody else may have put it there
   */
  public void create(DataSource dataSource, Schema schema, String failed) {
    try {
      createOnce(dataSource, schema);
    } catch (SQLException e) {
      // In PostgreSQL, "if not exists" fails when another one creates it at the same moment.
      try {
        createOnce(dataSource, schema);
      } catch (SQLException again) {
        throw failure(failed, again);
      }
    }
  }

  /** The statements that create a table in a database. */
  @FunctionalInterface
  public interface Schema {
    String of(String product);
  }

  private void createOnce(DataSource dataSource, Schema schema) throws SQLException {
    try (Connection connection = dataSource.getConnection()) {
      String product = connection.getMetaData().getDatabaseProductName();
      boolean commits = connection.getAutoCommit();
      try (Statement statement = connection.createStatement()) {
        begin(connection, statement, product);
        try {
          String statements = schema.of(product);
          refusePlanted(connection, product);
          for (String part : statements.split(";", -1)) {
            if (!part.isBlank()) {
              statement.execute(part);
            }
          }
          end(connection, statement, "COMMIT");
        } catch (SQLException | RuntimeException e) {
          end(connection, statement, "ROLLBACK");
          throw e;
        }
      } finally {
        connection.setAutoCommit(commits);
      }
    }
  }

  /**
   * Begins a transaction that reads before it writes. SQLite lets one that has only read so far
   * wait for no other writer, whatever the busy timeout is: there it begins as a writer.
   */
  private static void begin(Connection connection, Statement statement, String product)
      throws SQLException {
    boolean isSqlite = product.equals("SQLite");
    connection.setAutoCommit(isSqlite); // The driver's own transactions begin as readers.
    if (isSqlite) {
      statement.execute("BEGIN IMMEDIATE");
    }
  }

  private static void end(Connection connection, Statement statement, String how)
      throws SQLException {
    if (connection.getAutoCommit()) {
      statement.execute(how);
    } else if (how.equals("COMMIT")) {
      connection.commit();
    } else {
      connection.rollback();
    }
  }

  /**
   * Sees that it can be used.
   *
   * @param find reads a row by its name
   * @param versionColumn which column of that is the version
   * @throws StoreRefusedException saying why not
   */
  public void check(Connection connection, String find, int versionColumn) throws SQLException {
    refusePlanted(connection, connection.getMetaData().getDatabaseProductName());
    Long found;
    try (PreparedStatement statement = connection.prepareStatement(find)) {
      statement.setBytes(1, new byte[0]);
      try (ResultSet row = statement.executeQuery()) {
        found = row.next() ? row.getLong(versionColumn) : null;
      }
    } catch (SQLException e) {
      throw new StoreRefusedException(
          "The table %s can't be read; create it by %s (%s)"
              .formatted(name, createdBy, e.getMessage()),
          e);
    }
    if (found == null || found != version) {
      throw new StoreRefusedException(
          "The table %s has version %s, and this version of Fenceline knows version %d"
              .formatted(name, found == null ? "none" : found, version),
          null);
    }
  }

  /** Before anything of it is touched: to read a view may be to run a function with our rights. */
  private void refusePlanted(Connection connection, String product) throws SQLException {
    Map<String, String> words =
        Map.of(
            "our_classes", "pg_catalog.to_regclass('" + name + "')",
            "our_names", "'" + name + "'",
            "schema", "",
            // Of MariaDB only, where a connection may have been told to return less.
            "all_rows", "LIMIT " + Long.MAX_VALUE);
    String planted =
        Texts.read(
            SqlTable.class, "sql/" + product.toLowerCase(Locale.ROOT) + "/planted.sql", words);
    List<String> found = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(planted.replace(":trusted", "?"))) {
      statement.setString(1, owner);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(rows.getString(1));
        }
      }
    }
    if (!found.isEmpty()) {
      throw new StoreRefusedException(
          "The table %s may have been tampered with: %s; drop what is not yours, or keep the table in a schema of its own"
              .formatted(name, String.join(", ", found)),
          null);
    }
  }

  public static StoreUnavailableException failure(String what, SQLException e) {
    return new StoreUnavailableException("jdbc", what + ": " + e.getMessage(), e);
  }
}
