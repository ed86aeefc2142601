package io.fenceline.jdbc;

import io.fenceline.StoreUnavailableException;
import io.fenceline.jdbc.claim.RecentNames;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.MySqlDialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;

/**
 * A lock inside a transaction of yours, free when that commits or rolls back.
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * TransactionLock.acquire(connection, "invoice-numbers");
 * // read, compute and write in the same database, then
 * connection.commit();
 * }</pre>
 *
 * <p>Better than a lease where all that is guarded is in the same database and a transaction is
 * short: the lock can't be lost while the transaction lives, so there is nothing to renew and no
 * token to check, and it is free the moment the connection breaks. Worse where the work takes long
 * or is elsewhere: it needs a connection and an open transaction for all its time, and a write to
 * another system is not undone when the transaction is.
 *
 * <p>These locks and those of {@link io.fenceline.Fenceline} know nothing of each other. Locks of a
 * session (PostgreSQL's {@code pg_advisory_lock}, {@code GET_LOCK}) are not offered: behind a pool
 * the session is not yours, and the lock stays with it when you are gone.
 *
 * <p>Which isolation levels are right, so that what you read once you have the lock is what the
 * last holder has written:
 *
 * <ul>
 *   <li>PostgreSQL: READ COMMITTED, its default. Above it a transaction reads as of its first
 *       statement, which may be the one that waits for the lock: REPEATABLE READ and SERIALIZABLE
 *       are refused.
 *   <li>MariaDB and MySQL: all. At REPEATABLE READ, its default, a transaction reads as of its
 *       first read, so take the lock before you read. A transaction that has read too early, before
 *       the last holder has committed, is refused: roll back and start again.
 *   <li>SQLite: there is one. A transaction that has read before the last writer has committed
 *       can't write any more, and is refused by the database.
 * </ul>
 *
 * <p>PostgreSQL uses an advisory lock and needs no table. MariaDB and MySQL lock a row of {@code
 * fenceline_transaction_locks}, which {@link JdbcStores#schema} shows and a store that was opened
 * once has created. In SQLite, a transaction that writes has the whole file anyway.
 */
public final class TransactionLock {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final Map<Database, String> ACQUIRE = statements("transaction-lock");
  private static final Map<Database, String> TRY = statements("transaction-try-lock");

  private static final String MYSQL_SETTINGS = Sql.text("mysql", "transaction-settings", words());
  private static final String MYSQL_WAIT = Sql.text("mysql", "transaction-wait", words());

  /** Names whose rows were seen in MySQL. */
  private static final RecentNames SEEN = new RecentNames();

  private static final String TURN = Sql.text("mariadb", "transaction-turn", words());
  private static final String TURN_NOW = Sql.text("mariadb", "transaction-turn-now", words());
  private static final String ROLLBACK = Sql.text("mariadb", "transaction-rollback", words());
  private static final String COUNT = Sql.text("mariadb", "transaction-count", words());

  private TransactionLock() {}

  private static Map<String, String> words() {
    return Tables.DEFAULT.words();
  }

  private static Map<Database, String> statements(String file) {
    Map<String, String> words = Tables.DEFAULT.words();
    return Map.of(
        Database.SQLITE, Sql.text("sqlite", file, words),
        Database.POSTGRESQL, Sql.text("postgresql", file, words),
        Database.MARIADB, Sql.text("mariadb", file, words),
        Database.MYSQL, Sql.text("mysql", file, words));
  }

  /**
   * Waits for the lock, for as long as the database lets a statement wait ({@code lock_timeout},
   * {@code innodb_lock_wait_timeout}, {@code busy_timeout}). Roll back when it throws.
   *
   * @param connection in a transaction: one that commits each statement would free it at once
   * @throws InvalidSettingException if the isolation level is not right for it
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public static void acquire(Connection connection, String name) {
    take(connection, name, ACQUIRE);
  }

  /**
   * Takes the lock if it is free now. MariaDB and MySQL can't with {@code
   * innodb_rollback_on_timeout}, which would undo your transaction whenever the lock is taken.
   *
   * <p>MySQL may wait for up to a second where this process meets a name for the first time and
   * someone else has it: a row that may not be there is inserted, and an insert waits.
   *
   * @return whether it was taken
   * @throws InvalidSettingException if the database can't, or the isolation level is not right
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public static boolean tryAcquire(Connection connection, String name) {
    return take(connection, name, TRY);
  }

  private static boolean take(
      Connection connection, String name, Map<Database, String> statements) {
    LockNames.check(name);
    String store = "transaction";
    try {
      if (connection.getAutoCommit()) {
        throw new InvalidSettingException(
            "autoCommit", true, "the lock ends with the transaction: set it to false");
      }
      Database database = Database.of(connection.getMetaData());
      store = database.name();
      String statement = Objects.requireNonNull(statements.get(database));
      if (statements == TRY && database == Database.MARIADB) {
        checkRollback(connection);
      }
      if (statements == TRY && database == Database.MYSQL) {
        return tryMySql(connection, name);
      }
      try (PreparedStatement prepared = connection.prepareStatement(statement)) {
        if (database == Database.POSTGRESQL) {
          prepared.setLong(1, hash(name));
          try (ResultSet answer = prepared.executeQuery()) {
            return isTaken(answer.next() ? String.valueOf(answer.getString(1)) : "false");
          }
        }
        prepared.setBytes(1, name.getBytes(StandardCharsets.UTF_8));
        prepared.executeUpdate();
      }
      if (database != Database.SQLITE) {
        checkSnapshot(connection, name.getBytes(StandardCharsets.UTF_8));
      }
      return true;
    } catch (SQLException e) {
      boolean taken =
          e.getErrorCode() == LOCK_WAIT_TIMEOUT
              || (e.getErrorCode() == SqliteDialect.BUSY && !SqliteDialect.isOfAnOldSnapshot(e))
              || MySqlDialect.isLockedNow(e);
      if (statements == TRY && taken) {
        return false;
      }
      throw new StoreUnavailableException(
          store,
          "Lock '%s' was not acquired in the transaction: %s".formatted(name, e.getMessage()),
          e);
    }
  }

  /**
   * A lock that is taken is told by a timeout here, which must not be the end of all that the
   * transaction has done so far: the caller would go on, and commit the rest.
   */
  private static void checkRollback(Connection connection) throws SQLException {
    try (PreparedStatement read = connection.prepareStatement(ROLLBACK);
        ResultSet found = read.executeQuery()) {
      if (found.next() && found.getInt(1) != 0) {
        throw rollsBack();
      }
    }
  }

  /*
   * A row that is there is locked without waiting. To look for one that is not there locks the gap in its
   * place at the levels that have such locks, for the rest of the transaction: inserts of other names would
   * wait for it, or meet in a deadlock. So there, a name that was never seen is inserted at once, with the
   * shortest wait there is.
   */
  private static boolean tryMySql(Connection connection, String name) throws SQLException {
    byte[] key = name.getBytes(StandardCharsets.UTF_8);
    boolean locksGaps;
    int wait;
    try (PreparedStatement read = connection.prepareStatement(MYSQL_SETTINGS);
        ResultSet found = read.executeQuery()) {
      found.next();
      if (found.getInt(1) != 0) {
        throw rollsBack();
      }
      wait = found.getInt(2);
      locksGaps = found.getBoolean(3);
    }
    boolean isThere =
        (!locksGaps || SEEN.has(name))
            && turn(connection, Objects.requireNonNull(TRY.get(Database.MYSQL)), key) >= 0;
    if (!isThere) {
      setWait(connection, 1);
      try (PreparedStatement insert =
          connection.prepareStatement(Objects.requireNonNull(ACQUIRE.get(Database.MYSQL)))) {
        insert.setBytes(1, key);
        insert.executeUpdate();
      } catch (SQLException e) {
        if (e.getErrorCode() == LOCK_WAIT_TIMEOUT) {
          SEEN.add(name);
        }
        throw e;
      } finally {
        setWait(connection, wait);
      }
    }
    SEEN.add(name);
    checkSnapshot(connection, key);
    return true;
  }

  private static void setWait(Connection connection, int seconds) throws SQLException {
    try (PreparedStatement set = connection.prepareStatement(MYSQL_WAIT)) {
      set.setInt(1, seconds);
      set.executeUpdate();
    }
  }

  private static InvalidSettingException rollsBack() {
    return new InvalidSettingException(
        "innodb_rollback_on_timeout",
        "ON",
        "with this setting, tryAcquire would roll back your whole transaction if the lock is held; use acquire");
  }

  private static boolean isTaken(String answer) {
    if (answer.equals("snapshot")) {
      throw new InvalidSettingException(
          "transaction isolation",
          "above READ COMMITTED",
          "the transaction would not see what the last holder wrote; use READ COMMITTED");
    }
    return !answer.equals("false");
  }

  /** Fails if the transaction reads as of a time at which someone else had the lock, or before. */
  private static void checkSnapshot(Connection connection, byte[] name) throws SQLException {
    long seen = turn(connection, TURN, name);
    long now = turn(connection, TURN_NOW, name);
    if (seen != now) {
      throw new SQLException(
          "the transaction has read before it had the lock, and would not see what the last holder"
              + " has written; roll back and take the lock first",
          "40001");
    }
    try (PreparedStatement count = connection.prepareStatement(COUNT)) {
      count.setBytes(1, name);
      count.executeUpdate();
    }
  }

  private static long turn(Connection connection, String query, byte[] name) throws SQLException {
    try (PreparedStatement read = connection.prepareStatement(query)) {
      read.setBytes(1, name);
      try (ResultSet turn = read.executeQuery()) {
        return turn.next() ? turn.getLong(1) : -1;
      }
    }
  }

  /** Advisory locks have numbers for names: 64 bits of a hash, so that names hardly ever meet. */
  static long hash(String name) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update("fenceline:".getBytes(StandardCharsets.US_ASCII));
      return ByteBuffer.wrap(digest.digest(name.getBytes(StandardCharsets.UTF_8))).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
