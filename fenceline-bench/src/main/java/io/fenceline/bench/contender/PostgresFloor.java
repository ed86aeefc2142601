package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What a lock in a table can't do without: one statement that takes the row and raises its number,
 * on disk before it is answered whatever the database's default, and one that empties it, whose
 * commit need not be on disk. The row is there before; making it costs more than changing it.
 */
final class PostgresFloor implements Contender {
  private static final long LEASE_MICROS = 30_000_000;
  private static final String NOW =
      "CAST(date_part('epoch', statement_timestamp()) * 1000000 AS bigint)";
  private static final String MAKE =
      "INSERT INTO floor_locks (name, number) VALUES (?, 0) ON CONFLICT DO NOTHING";
  private static final String TAKE =
      """
      UPDATE floor_locks SET owner = ?, number = number + 1, ends = NOW + ?
      WHERE name = ? AND (owner IS NULL OR ends <= NOW)
        AND CASE current_setting('synchronous_commit') WHEN 'on' THEN true
              ELSE set_config('synchronous_commit', 'on', true) IS NOT NULL END
      RETURNING number"""
          .replace("NOW", NOW);
  private static final String GIVE_BACK =
      """
      UPDATE floor_locks SET owner = NULL
      WHERE name = ? AND owner = ?
        AND set_config('synchronous_commit', 'off', true) IS NOT NULL""";

  private final HikariDataSource pool;

  PostgresFloor(String address) throws SQLException {
    this.pool = Database.pool(address, Database.USUAL_SIZE);
    Database.create(
        pool,
        "floor_locks (name bytea PRIMARY KEY, owner bytea, number bigint, ends bigint)"
            + " WITH (fillfactor = 50)");
  }

  @Override
  public Cycle on(String name) throws SQLException {
    byte[] key = name.getBytes(UTF_8);
    make(key);
    return section -> {
      byte[] owner = Floors.owner();
      section.run(take(key, owner));
      giveBack(key, owner);
    };
  }

  private void make(byte[] key) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(MAKE)) {
      statement.setBytes(1, key);
      statement.executeUpdate();
    }
  }

  private long take(byte[] key, byte[] owner) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(TAKE)) {
      statement.setBytes(1, owner);
      statement.setLong(2, LEASE_MICROS);
      statement.setBytes(3, key);
      try (ResultSet row = statement.executeQuery()) {
        Floors.check(row.next());
        return row.getLong(1);
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
