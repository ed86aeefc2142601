package io.fenceline.jdbc.connection;

import io.fenceline.diagnosis.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.postgresql.PGConnection;

/**
 * Finds out whether a pooler such as PgBouncer stands between us and PostgreSQL.
 *
 * <p>One that pools transactions gives each of them another session: statements that were prepared
 * in one are missing in the next, and messages go to whoever has the session then. A pooler greets
 * its clients with a process id of its own making, which is how it gives itself away.
 */
public final class PostgresPooler {
  private PostgresPooler() {}

  static boolean isBetween(Connection connection) throws SQLException {
    if (!connection.isWrapperFor(PGConnection.class)) {
      return false;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      return row.next() && row.getInt(1) != connection.unwrap(PGConnection.class).getBackendPID();
    }
  }

  /** What a diagnosis says of it. */
  public static List<Finding> findings(Connection connection) throws SQLException {
    if (!isBetween(connection)) {
      return List.of();
    }
    String found = "a pooler such as PgBouncer stands before the server";
    int threshold = connection.unwrap(PGConnection.class).getPrepareThreshold();
    return List.of(
        threshold == 0
            ? Finding.ok("pooler", found + ", prepareThreshold = 0", "transactions may be pooled")
            : Finding.serious(
                "pooler",
                found + ", prepareThreshold = " + threshold,
                "if it pools transactions, a statement that the driver has prepared in one session"
                    + " is missing in the next, and requests fail",
                "add prepareThreshold=0 to the data source's URL; docs/sql.md has the rest"));
  }
}
