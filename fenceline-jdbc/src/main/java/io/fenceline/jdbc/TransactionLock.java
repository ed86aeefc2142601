package io.fenceline.jdbc;

import io.fenceline.InvalidSettingException;
import io.fenceline.StoreUnavailableException;
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
 * <p>PostgreSQL uses an advisory lock and needs no table. MariaDB locks a row of {@code
 * fenceline_transaction_locks}, which {@link JdbcStore#schema} shows and a store that was opened
 * once has created. In SQLite, a transaction that writes has the whole file anyway.
 */
public final class TransactionLock {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final Map<Database, String> ACQUIRE = statements("transaction-lock");
  private static final Map<Database, String> TRY = statements("transaction-try-lock");

  private TransactionLock() {}

  private static Map<Database, String> statements(String file) {
    Map<String, String> words = Tables.DEFAULT.words();
    return Map.of(
        Database.SQLITE, Sql.text("sqlite", file, words),
        Database.POSTGRESQL, Sql.text("postgresql", file, words),
        Database.MARIADB, Sql.text("mariadb", file, words),
        Database.MYSQL, Sql.text("mariadb", "transaction-lock", words));
  }

  /**
   * Waits for the lock, for as long as the database lets a statement wait ({@code lock_timeout},
   * {@code innodb_lock_wait_timeout}, {@code busy_timeout}).
   *
   * @param connection in a transaction: one that commits each statement would free it at once
   * @throws StoreUnavailableException if the database refuses; its error is the cause
   */
  public static void acquire(Connection connection, String name) {
    take(connection, name, ACQUIRE);
  }

  /**
   * Takes the lock if it is free now.
   *
   * @return whether it was taken
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
      String statement = statements.get(database);
      try (PreparedStatement prepared = connection.prepareStatement(statement)) {
        if (database != Database.POSTGRESQL) {
          prepared.setBytes(1, name.getBytes(StandardCharsets.UTF_8));
          prepared.executeUpdate();
          return true;
        }
        prepared.setLong(1, hash(name));
        try (ResultSet answer = prepared.executeQuery()) {
          return answer.next() && !"f".equals(answer.getString(1));
        }
      }
    } catch (SQLException e) {
      boolean taken =
          e.getErrorCode() == LOCK_WAIT_TIMEOUT || e.getErrorCode() == SqliteDialect.BUSY;
      if (statements == TRY && taken) {
        return false;
      }
      throw new StoreUnavailableException(
          store,
          "Lock '%s' was not taken inside the transaction: %s".formatted(name, e.getMessage()),
          e);
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
