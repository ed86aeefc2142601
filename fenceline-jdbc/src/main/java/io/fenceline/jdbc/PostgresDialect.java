package io.fenceline.jdbc;

import static java.util.Map.entry;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** PostgreSQL: says for each commit whether it has to be on disk, and tells those who wait. */
final class PostgresDialect extends Dialect {
  /** A client that stops in the middle of a transaction keeps a name's row locked no longer. */
  private static final int IDLE_MILLIS = 2_000;

  PostgresDialect() {
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
        // take.sql leaves out what the row says elsewhere.
        entry("row_number", "CASE l.number WHEN 0 THEN l.last_number ELSE l.number END"),
        entry("row_since", "CASE l.since WHEN 0 THEN l.ends - l.term ELSE l.since END"),
        entry("for_update", "FOR UPDATE"),
        entry("or_nothing", "ON CONFLICT DO NOTHING"),
        // Conditions that hold. Setting what is set already would cost more than looking.
        entry(
            "durable",
            "CASE current_setting('synchronous_commit')"
                + " WHEN 'on' THEN true WHEN 'remote_apply' THEN true"
                + " ELSE set_config('synchronous_commit', 'on', true) IS NOT NULL END"),
        entry("lazy", "set_config('synchronous_commit', 'off', true) IS NOT NULL"),
        entry(
            "durable_if_granted", "(SELECT CASE WHEN :durable = 1 THEN {durable} ELSE {lazy} END)"),
        entry(
            "unless_stopped",
            "AND (SELECT set_config('idle_in_transaction_session_timeout', '"
                + IDLE_MILLIS
                + "', true)) IS NOT NULL"),
        entry(
            "public_id",
            "substr(encode(sha256(convert_to(encode(head.owner, 'hex'), 'UTF8')), 'hex'), 1, 12)"));
  }

  @Override
  boolean tells() {
    return true;
  }

  @Override
  boolean hasTake() {
    return true;
  }

  // The driver sends BEGIN along with the first statement, which saves a round trip.

  @Override
  void begin(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
  }

  @Override
  void commit(Connection connection) throws SQLException {
    connection.commit();
    connection.setAutoCommit(true);
  }

  @Override
  void rollback(Connection connection) throws SQLException {
    connection.rollback();
    connection.setAutoCommit(true);
  }

  @Override
  boolean isNoTables(SQLException e) {
    return "42P01".equals(e.getSQLState()) || "3F000".equals(e.getSQLState());
  }

  @Override
  @Nullable String meaning(SQLException e) {
    return switch (String.valueOf(e.getSQLState())) {
      case "25006" -> "the server or the user may only read; locks need the primary";
      case "42501" -> "the user may not do that; see JdbcStore.schema() for what is needed";
      case "42P01", "3F000" -> "the tables are not there";
      case "53100" -> "the server's disk is full";
      case "53300" -> "the server has no connection left";
      case "57P01", "57P02" -> "the server has ended the connection";
      case "57P03" -> "the server is starting up or shutting down";
      case "28P01", "28000" -> "the server refused the login";
      case "3D000" -> "there is no such database";
      case "08001", "08003", "08004", "08006" -> "the server can't be reached or did not answer";
      default -> null;
    };
  }
}
