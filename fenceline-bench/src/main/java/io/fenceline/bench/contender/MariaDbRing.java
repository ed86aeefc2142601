package io.fenceline.bench.contender;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Taking turns in MariaDB without a lease: the server's own named lock, which wakes one of those
 * who wait, around an update that raises a number. MariaDB has no notifications, so that this is
 * the only way in which it tells anybody anything.
 */
final class MariaDbRing implements Contender {
  private final Connection connection;

  MariaDbRing(String address) throws SQLException {
    this.connection = DriverManager.getConnection(address);
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS ring_numbers (name varchar(64) PRIMARY KEY, number bigint)");
    }
  }

  @Override
  public Cycle on(String name) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT IGNORE INTO ring_numbers VALUES ('" + name + "', 0)");
    }
    PreparedStatement take = connection.prepareStatement("SELECT GET_LOCK(?, 0.5)");
    PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE ring_numbers SET number = LAST_INSERT_ID(number + 1) WHERE name = ?",
            Statement.RETURN_GENERATED_KEYS);
    PreparedStatement giveBack = connection.prepareStatement("SELECT RELEASE_LOCK(?)");
    take.setString(1, "ring." + name);
    raise.setString(1, name);
    giveBack.setString(1, "ring." + name);
    return section -> {
      if (!isOne(take)) {
        return;
      }
      Floors.check(raise.executeUpdate() == 1);
      section.run(0);
      Floors.check(isOne(giveBack));
    };
  }

  private static boolean isOne(PreparedStatement question) throws SQLException {
    try (ResultSet row = question.executeQuery()) {
      return row.next() && row.getInt(1) == 1;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
