package io.fenceline.examples;

import io.fenceline.FencingToken;
import io.fenceline.jdbc.FencedRow;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** An order that is to be paid once; its own row has a column for the token. */
final class Orders implements AutoCloseable {
  private static final int ORDER = 12345;
  private static final FencedRow ROW = FencedRow.of("orders", "id", "fence");

  private final Connection connection;

  private Orders(Connection connection) {
    this.connection = connection;
  }

  static Orders open(String url) throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    connection.setAutoCommit(false);
    return new Orders(connection);
  }

  void create() throws SQLException {
    run("CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, fence INTEGER)");
    run("INSERT INTO orders (id, status) VALUES (" + ORDER + ", 'pending')");
    run("CREATE TABLE charges (id INTEGER)");
    connection.commit();
  }

  void reset() throws SQLException {
    run("UPDATE orders SET status = 'pending'");
    run("DELETE FROM charges");
    connection.commit();
  }

  String status() throws SQLException {
    return text("SELECT status FROM orders WHERE id = " + ORDER);
  }

  int charges() throws SQLException {
    return Integer.parseInt(text("SELECT count(*) FROM charges"));
  }

  /**
   * Charges the customer.
   *
   * @param token checked in the same transaction; null for no check
   */
  void charge(@Nullable FencingToken token) throws SQLException {
    try {
      if (token != null) {
        ROW.check(connection, ORDER, token);
      }
      run("UPDATE orders SET status = 'paid' WHERE id = " + ORDER);
      run("INSERT INTO charges VALUES (" + ORDER + ")");
      connection.commit();
    } catch (SQLException | RuntimeException e) {
      connection.rollback();
      throw e;
    }
  }

  private String text(String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(query)) {
      answer.next();
      return answer.getString(1);
    } finally {
      connection.commit(); // The next question shall see what others have done since.
    }
  }

  private void run(String text) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate(text);
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
