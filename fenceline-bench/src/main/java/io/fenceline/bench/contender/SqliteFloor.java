package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a lock in a file can't do without: two transactions on one connection, with the same
 * pragmas; SQLite lets one write at a time, whoever asks.
 */
final class SqliteFloor implements Contender {
  private static final long LEASE_MILLIS = 30_000;
  private static final String TAKE =
      """
      INSERT INTO floor_locks AS l (name, owner, number, ends) VALUES (?1, ?2, 1, ?3 + ?4)
      ON CONFLICT (name) DO UPDATE
        SET owner = excluded.owner, number = l.number + 1, ends = excluded.ends
        WHERE l.owner IS NULL OR l.ends <= ?3
      RETURNING number""";
  private static final String GIVE_BACK =
      "UPDATE floor_locks SET owner = NULL WHERE name = ?1 AND owner = ?2";

  private final Connection connection;
  private final ReentrantLock turn = new ReentrantLock();
  private final PreparedStatement take;
  private final PreparedStatement giveBack;

  SqliteFloor(String address) throws SQLException {
    this.connection = DriverManager.getConnection("jdbc:" + address);
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA busy_timeout = 5000");
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      statement.execute(
          "CREATE TABLE IF NOT EXISTS floor_locks"
              + " (name BLOB PRIMARY KEY, owner BLOB, number INTEGER, ends INTEGER) WITHOUT ROWID");
    }
    this.take = connection.prepareStatement(TAKE);
    this.giveBack = connection.prepareStatement(GIVE_BACK);
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
    turn.lock();
    try {
      take.setBytes(1, key);
      take.setBytes(2, owner);
      take.setLong(3, System.currentTimeMillis());
      take.setLong(4, LEASE_MILLIS);
      try (ResultSet row = take.executeQuery()) {
        Floors.check(row.next());
        return row.getLong(1);
      }
    } finally {
      turn.unlock();
    }
  }

  private void giveBack(byte[] key, byte[] owner) throws SQLException {
    turn.lock();
    try {
      giveBack.setBytes(1, key);
      giveBack.setBytes(2, owner);
      Floors.check(giveBack.executeUpdate() == 1);
    } finally {
      turn.unlock();
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
