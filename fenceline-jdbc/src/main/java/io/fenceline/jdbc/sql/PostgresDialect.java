package io.fenceline.jdbc.sql;

import static java.util.Map.entry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** PostgreSQL: says for each commit whether it has to be on disk, and tells those who wait. */
public final class PostgresDialect extends Dialect {
  /** A client that stops in the middle of a transaction keeps a name's row locked no longer. */
  private static final int IDLE_MILLIS = 500;

  /** A renewal of many names waits no longer for one of them. */
  private static final int HURRIED_MILLIS = 10;

  /** A renewal that has come back for a name by itself waits no longer. */
  private static final int PATIENT_MILLIS = 1_000;

  /**
   * A condition that holds, and makes the transaction one that is on disk when it has committed.
   * Setting what is set already would cost more than looking.
   */
  public static final String DURABLE =
      "CASE current_setting('synchronous_commit')"
          + " WHEN 'on' THEN true WHEN 'remote_apply' THEN true"
          + " ELSE set_config('synchronous_commit', 'on', true) IS NOT NULL END";

  public PostgresDialect() {
    super("postgresql", "PostgreSQL", words());
  }

  private static Map<String, String> words() {
    return Map.ofEntries(
        // As a double, which has room for microseconds until 2255: numerics are slow.
        entry("now", "CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)"),
        entry("clock_number", "GREATEST(1, ({now} - {epoch}) * 2 / 125)"),
        // The same wherever it stands in a statement, and never before the client has asked.
        entry("arrived", "CAST(date_part('epoch', statement_timestamp()) * 1000000 AS bigint)"),
        entry("arrived_number", "({arrived} - {epoch}) * 2 / 125"),
        // claim-uncontended.sql leaves out what the row says elsewhere.
        entry("row_number", "CASE l.number WHEN 0 THEN l.last_number ELSE l.number END"),
        entry("row_since", "CASE l.since WHEN 0 THEN l.ends - l.term ELSE l.since END"),
        entry("greater", "GREATEST"),
        entry("in_a_hurry", "AND (SELECT " + lockTimeout(HURRIED_MILLIS) + ")"),
        entry("with_patience", "AND (SELECT " + lockTimeout(PATIENT_MILLIS) + ")"),
        entry("for_update", "FOR UPDATE"),
        entry("or_nothing", "ON CONFLICT DO NOTHING"),
        entry("durable", DURABLE),
        entry("lazy", "set_config('synchronous_commit', 'off', true) IS NOT NULL"),
        entry(
            "durable_if_granted", "(SELECT CASE WHEN :durable = 1 THEN {durable} ELSE {lazy} END)"),
        entry(
            "unless_stopped",
            "AND (SELECT set_config('idle_in_transaction_session_timeout', '"
                + IDLE_MILLIS
                + "', true)) IS NOT NULL"),
        entry("public_id", hash("encode(head.owner, 'hex')")),
        // See Channels.
        entry("head_channel", "'{channel}_' || " + hash("split_part(head.client, ' ', 1)")));
  }

  private static String hash(String text) {
    return "substr(encode(sha256(convert_to(" + text + ", 'UTF8')), 'hex'), 1, 12)";
  }

  private static String lockTimeout(int millis) {
    return "set_config('lock_timeout', '" + millis + "', true) IS NOT NULL";
  }

  @Override
  public boolean isLocked(SQLException e) {
    return "55P03".equals(e.getSQLState());
  }

  @Override
  boolean showsRights() {
    return true;
  }

  @Override
  public boolean isDenied(SQLException e) {
    return "42501".equals(e.getSQLState());
  }

  @Override
  boolean tells() {
    return true;
  }

  @Override
  boolean hasUncontendedClaim() {
    return true;
  }

  @Override
  boolean hasTurn() {
    return true;
  }

  @Override
  boolean hasUncontendedRelease() {
    return true;
  }

  /**
   * Two copies of a claim joined a queue at the same time: the second sees the first by now. Or the
   * client stood still in the middle of a transaction, which the server has ended: had it been
   * committed, the server would not have said that.
   */
  @Override
  boolean isRetry(SQLException e) {
    return "23505".equals(e.getSQLState()) || "25P03".equals(e.getSQLState());
  }

  // The driver sends BEGIN along with the first statement, which saves a round trip.

  @Override
  public void begin(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
  }

  @Override
  public void commit(Connection connection) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  @Override
  public void rollback(Connection connection) throws SQLException {
    connection.rollback();
    connection.setAutoCommit(true);
  }

  @Override
  boolean isNoTables(SQLException e) {
    return "42P01".equals(e.getSQLState()) || "3F000".equals(e.getSQLState());
  }

  @Override
  public boolean isRefusal(SQLException e) {
    return switch (String.valueOf(e.getSQLState())) {
      case "25006", "42501", "42P01", "3F000", "53100", "53200", "28P01", "28000", "3D000" -> true;
      default -> false;
    };
  }

  /** Why there is no connection, if it is about TLS; the driver has no state for that. */
  private static @Nullable String ofTls(SQLException e) {
    String said = Dialect.said(e);
    if (said.contains("does not support SSL")) {
      return "the server does not speak TLS; turn it on there, or leave sslmode out";
    } else if (said.contains("PKIX") || said.contains("certification path")) {
      return "the server's certificate is not trusted; name its authority with sslrootcert";
    } else if (said.contains("SSL")) {
      return "TLS failed; check sslmode and the certificates";
    }
    return null;
  }

  private static String ofConnecting(SQLException e) {
    String tls = ofTls(e);
    return tls == null ? Dialect.notReached(e) : tls;
  }

  private static String ofLogin(SQLException e) {
    String said = Dialect.said(e);
    if (said.contains("pg_hba.conf")) {
      return said.contains("no encryption")
          ? "the server does not let this user in without TLS; add sslmode=verify-full, or change its pg_hba.conf"
          : "the server does not let this user in from here; change its pg_hba.conf";
    }
    return "the server refused the login; check user and password";
  }

  @Override
  public @Nullable String meaning(SQLException e) {
    return switch (String.valueOf(e.getSQLState())) {
      case "25006" -> "the server or the user may only read; locks need the primary";
      case "42501" ->
          String.valueOf(e.getMessage()).contains("permission denied for database")
              ? "the user lacks CONNECT ON DATABASE"
              : "the user may not do that; GRANT what docs/least-rights.md lists";
      case "42P01", "3F000" -> "the tables are not there";
      case "55P03" -> "another transaction has kept the row locked for too long";
      case "53100" -> "the server's disk is full; free space there";
      case "53200" -> "the server is out of memory; see its log";
      case "53300" -> "the server has no connection left; raise its max_connections or use fewer";
      case "57P01", "57P02" -> "the server has ended the connection";
      case "57P03" -> "the server is starting up or shutting down";
      case "28P01", "28000" -> ofLogin(e);
      case "3D000" -> "there is no such database; create it, or check its name";
      case "08001", "08003", "08004", "08006" -> ofConnecting(e);
      default -> null;
    };
  }
}
