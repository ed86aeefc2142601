package io.fenceline.examples;

import io.fenceline.FencingToken;
import io.fenceline.jdbc.JdbcFence;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** A shop with one item in stock, and a list of what was sold; in an SQLite file. */
final class Shop implements AutoCloseable {
  private static final JdbcFence FENCE = JdbcFence.create();

  private final Connection connection;

  private Shop(Connection connection) {
    this.connection = connection;
  }

  static Shop open(String url) throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    connection.setAutoCommit(false);
    return new Shop(connection);
  }

  void create() throws SQLException {
    run("CREATE TABLE stock (items INTEGER)");
    run("INSERT INTO stock VALUES (0)");
    run("CREATE TABLE sales (buyer TEXT)");
    FENCE.createTable(connection);
    connection.commit();
  }

  void restock(int items) throws SQLException {
    run("UPDATE stock SET items = " + items);
    run("DELETE FROM sales");
    connection.commit();
  }

  int itemsLeft() throws SQLException {
    return number("SELECT items FROM stock");
  }

  int sold() throws SQLException {
    return number("SELECT count(*) FROM sales");
  }

  /**
   * Sells an item of those that the buyer has seen.
   *
   * @param token checked in the same transaction; null for no check
   */
  void sell(String buyer, int itemsSeen, @Nullable FencingToken token) throws SQLException {
    try {
      if (token != null) {
        FENCE.check(connection, "stock", token);
      }
      run("UPDATE stock SET items = " + (itemsSeen - 1));
      run("INSERT INTO sales VALUES ('" + buyer + "')");
      connection.commit();
    } catch (SQLException | RuntimeException e) {
      connection.rollback();
      throw e;
    }
  }

  private int number(String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(query)) {
      answer.next();
      return answer.getInt(1);
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
