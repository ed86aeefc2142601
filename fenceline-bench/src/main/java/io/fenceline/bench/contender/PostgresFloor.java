package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What a lock in a table can't do without: one statement that takes the row and raises its number,
 * on disk before it is answered, and one that empties it, whose commit need not be on disk.
 */
final class PostgresFloor implements Contender {
  private static final long LEASE_MICROS = 30_000_000;
  private static final String NOW =
      "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)";
  private static final String TAKE =
      """
      INSERT INTO floor_locks AS l (name, owner, number, ends)
      SELECT ?, ?, 1, NOW + ?
      WHERE (SELECT set_config('synchronous_commit', 'on', true)) IS NOT NULL
      ON CONFLICT (name) DO UPDATE
        SET owner = excluded.owner, number = l.number + 1, ends = excluded.ends
        WHERE l.owner IS NULL OR l.ends <= NOW
      RETURNING number"""
          .replace("NOW", NOW);
  private static final String GIVE_BACK =
      """
      UPDATE floor_locks SET owner = NULL
      WHERE name = ? AND owner = ?
        AND (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL""";

  private final HikariDataSource pool;

  PostgresFloor(String address) throws SQLException {
    this.pool = Database.pool(address, Database.USUAL_SIZE);
    Database.create(
        pool,
        "floor_locks (name bytea PRIMARY KEY, owner bytea, number bigint, ends bigint)"
            + " WITH (fillfactor = 50)");
  }

  @Override
  public Cycle on(String name) {
    byte[] key = name.getBytes(UTF_8);
    return section -> {
      byte[] owner = Floors.owner();
      section.run(take(key, owner));
      giveBack(key, owner);
    };
  }

  private long take(byte[] key, byte[] owner) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(TAKE)) {
      statement.setBytes(1, key);
      statement.setBytes(2, owner);
      statement.setLong(3, LEASE_MICROS);
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
