package io.fenceline.examples;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Our bookings, and the charges of a bank, which knows nothing of our transactions. */
final class Payments implements AutoCloseable {
  private final Connection connection;

  private Payments(Connection connection) {
    this.connection = connection;
  }

  static Payments open(String url) throws SQLException {
    return new Payments(DriverManager.getConnection(url));
  }

  void create() throws SQLException {
    run("PRAGMA journal_mode = WAL");
    run("CREATE TABLE bookings (worker TEXT)");
    run("CREATE TABLE receipts (worker TEXT)");
    run("CREATE TABLE charges (idempotency_key TEXT UNIQUE)");
  }

  void reset() throws SQLException {
    run("DELETE FROM bookings");
    run("DELETE FROM receipts");
    run("DELETE FROM charges");
    run("DROP TABLE IF EXISTS fenceline_once");
  }

  /** Books by a transaction of the caller. */
  static void book(Connection transaction, String worker) throws SQLException {
    try (Statement statement = transaction.createStatement()) {
      statement.executeUpdate("INSERT INTO bookings VALUES ('" + worker + "')");
      statement.executeUpdate("DELETE FROM receipts");
      statement.executeUpdate("INSERT INTO receipts VALUES ('" + worker + "')");
    }
  }

  /** Books at once. */
  void book(String worker) throws SQLException {
    book(connection, worker);
  }

  /** Charges the card: a second time as well, unless it is told a key that it knows. */
  void charge(String key) throws SQLException {
    run(
        "INSERT OR IGNORE INTO charges VALUES ("
            + (key.isEmpty() ? "NULL" : "'" + key + "'")
            + ")");
  }

  int bookings() throws SQLException {
    return Integer.parseInt(text("SELECT count(*) FROM bookings"));
  }

  int charges() throws SQLException {
    return Integer.parseInt(text("SELECT count(*) FROM charges"));
  }

  String receipt() throws SQLException {
    return text("SELECT worker FROM receipts");
  }

  private String text(String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(query)) {
      answer.next();
      return answer.getString(1);
    }
  }

  private void run(String text) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(text);
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
