package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What a lock in a table of MariaDB or MySQL can't do without: one statement that takes the row and
 * raises its number, and one that empties it. The row is there before.
 */
final class InnoDbFloor implements Contender {
  private static final long LEASE_MICROS = 30_000_000;
  private static final String MAKE =
      "INSERT INTO floor_locks (name, number) VALUES (?, 0) ON DUPLICATE KEY UPDATE name = name";
  private static final String TAKE =
      """
      UPDATE floor_locks SET number = LAST_INSERT_ID(number + 1), owner = ?, ends = NOW + ?
      WHERE name = ? AND (owner IS NULL OR ends <= NOW)"""
          .replace("NOW", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))");
  private static final String GIVE_BACK =
      "UPDATE floor_locks SET owner = NULL WHERE name = ? AND owner = ?";

  private final HikariDataSource pool;

  InnoDbFloor(String address) throws SQLException {
    this.pool = Database.pool(address, Database.USUAL_SIZE);
    Database.create(
        pool,
        "floor_locks (name VARBINARY(200) PRIMARY KEY, owner BINARY(16), number BIGINT, ends BIGINT)");
  }

  @Override
  public Cycle on(String name) throws SQLException {
    byte[] key = name.getBytes(UTF_8);
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(MAKE)) {
      statement.setBytes(1, key);
      statement.executeUpdate();
    }
    return section -> {
      byte[] owner = Floors.owner();
      section.run(take(key, owner));
      giveBack(key, owner);
    };
  }

  private long take(byte[] key, byte[] owner) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(TAKE, Statement.RETURN_GENERATED_KEYS)) {
      statement.setBytes(1, owner);
      statement.setLong(2, LEASE_MICROS);
      statement.setBytes(3, key);
      Floors.check(statement.executeUpdate() == 1);
      try (ResultSet number = statement.getGeneratedKeys()) {
        Floors.check(number.next());
        return number.getLong(1);
      }
    }
  }

  private void giveBack(byte[] key, byte[] owner) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(GIVE_BACK)) {
      statement.setBytes(1, key);
      statement.setBytes(2, owner);
      Floors.check(statement.executeUpdate() == 1);
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
