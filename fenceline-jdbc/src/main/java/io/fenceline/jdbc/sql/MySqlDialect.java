package io.fenceline.jdbc.sql;

import static java.util.Map.entry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * MySQL 8: a grant's number comes back as a generated key, and rows that are locked are passed over
 * by locking reads.
 */
public final class MySqlDialect extends MariaDbDialect {
  private static final int LOCKED_NOW = 3572;
  private static final int ROLLED_BACK_BY_ITS_GROUP = 3101;

  /** A client that stops in the middle of a transaction keeps a name's row locked no longer. */
  private static final int IDLE_SECONDS = 1;

  public MySqlDialect() {
    super(
        "mysql",
        "MySQL",
        Map.ofEntries(
            // Statement time, in UTC: local time repeats an hour each autumn.
            entry("now", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"),
            entry("clock_number", "GREATEST(1, ({now} - {epoch}) * 2 DIV 125)"),
            entry("ours", "(owner <=> :owner)"),
            entry("free", "(others = 0 AND (owner IS NULL OR ends <= {now}))"),
            entry("greater", "GREATEST"),
            entry("for_update", "FOR UPDATE"),
            entry("or_nothing", "ON DUPLICATE KEY UPDATE others = others"),
            entry("unless_stopped", ""),
            // Said by the statement, so that sql_select_limit does not cut holders off.
            entry("all_rows", "LIMIT " + Long.MAX_VALUE),
            // Whoever finds a row locked passes over it, and comes back.
            entry("in_a_hurry", "NOWAIT"),
            entry("durable_if_granted", ":durable >= 0")));
  }

  @Override
  public boolean returnsNumberAsKey() {
    return true;
  }

  @Override
  boolean hasTurn() {
    return false;
  }

  @Override
  boolean hasUncontendedRelease() {
    return false;
  }

  @Override
  boolean hasBell() {
    return false;
  }

  @Override
  public boolean hasTransactionsInStatements() {
    return false;
  }

  @Override
  public boolean namesNext() {
    return false;
  }

  /*
   * MySQL has no limit for a transaction that stands still, only for a connection that does. It
   * must not hold between transactions, where connections of a pool rest for minutes; so it begins
   * and ends with the transaction, in the same statements. To switch autocommit on is to commit,
   * and is no matter of completion_type.
   */

  @Override
  public void begin(Connection connection) throws SQLException {
    run(
        connection,
        "SET @fenceline_rests = @@SESSION.wait_timeout, SESSION wait_timeout = "
            + IDLE_SECONDS
            + ", autocommit = 0");
  }

  @Override
  public void commit(Connection connection) throws SQLException {
    run(connection, "SET autocommit = 1, SESSION wait_timeout = @fenceline_rests");
  }

  @Override
  public void rollback(Connection connection) throws SQLException {
    super.rollback(connection);
    commit(connection);
  }

  @Override
  boolean isRetry(SQLException e) {
    return super.isRetry(e) || e.getErrorCode() == ROLLED_BACK_BY_ITS_GROUP;
  }

  @Override
  public boolean isLocked(SQLException e) {
    return super.isLocked(e) || isLockedNow(e);
  }

  /** Whether a read that must not wait has met a row that is locked. */
  public static boolean isLockedNow(SQLException e) {
    return e.getErrorCode() == LOCKED_NOW;
  }

  @Override
  @Nullable String ofConnecting(SQLException e) {
    String said = Dialect.said(e);
    if (said.contains("Public Key Retrieval is not allowed")) {
      return "the login needs TLS, or the server's key: add sslMode=VERIFY_IDENTITY, or"
          + " allowPublicKeyRetrieval=true in a network that you trust";
    } else if (said.contains("SSL Connection required")) {
      return "the server does not speak TLS; turn it on there, or leave sslMode out";
    } else if (said.contains("PKIX") || said.contains("certification path")) {
      return "the server's certificate is not trusted; name its authority with"
          + " trustCertificateKeyStoreUrl";
    }
    return super.ofConnecting(e);
  }
}
