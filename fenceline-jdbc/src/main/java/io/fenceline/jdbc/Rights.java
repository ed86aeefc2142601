package io.fenceline.jdbc;

import io.fenceline.diagnosis.Finding;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which rights the user lacks, of those that locks need: see docs/least-rights.md. */
final class Rights {
  /** Where the server can only be asked by trying: what does nothing, and needs one right. */
  private static final Map<String, String> PROBES =
      Map.of(
          "SELECT", "SELECT 1 FROM %1$s WHERE 1 = 0",
          "INSERT", "INSERT INTO %1$s (%2$s) SELECT NULL FROM DUAL WHERE 1 = 0",
          "UPDATE", "UPDATE %1$s SET %2$s = NULL WHERE 1 = 0",
          "DELETE", "DELETE FROM %1$s WHERE 1 = 0");

  private final Dialect dialect;
  private final Map<String, String> tables;
  private final Statements statements;

  Rights(Dialect dialect, Tables tables, Statements statements) {
    this.dialect = dialect;
    this.tables = tables.words();
    this.statements = statements;
  }

  /** What is missing, as {@code GRANT} names it; nothing where that can't be told. */
  List<String> missing(Session session) throws SQLException {
    if (statements.rights != null) {
      return session.call(statements.rights).rows(row -> row.getString(1));
    }
    List<String> missing = new ArrayList<>();
    if (dialect.probesRights()) {
      for (String right : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
        probe(session, right, "locks", "name", missing);
        probe(session, right, "claims", "name", missing);
      }
      probe(session, "SELECT", "format", "version", missing);
      probe(session, "UPDATE", "format", "version", missing);
    }
    return missing;
  }

  private void probe(
      Session session, String right, String table, String column, List<String> missing) {
    String name = String.valueOf(tables.get(table));
    try {
      Dialect.run(session.connection(), String.valueOf(PROBES.get(right)).formatted(name, column));
    } catch (SQLException e) {
      // Rights are looked at before anything else is.
      if (dialect.isDenied(e)) {
        missing.add(right + " ON " + name);
      }
    }
  }

  /** What a diagnosis says of them. */
  List<Finding> findings(Session session) throws SQLException {
    if (statements.rights == null && !dialect.probesRights()) {
      return List.of();
    }
    List<Finding> findings = new ArrayList<>();
    for (String right : missing(session)) {
      findings.add(
          Finding.serious(
              "rights",
              "the user lacks " + right,
              "what needs it fails",
              "GRANT " + right + " TO the user; docs/least-rights.md has all that are needed"));
    }
    return findings.isEmpty()
        ? List.of(Finding.ok("rights", "all that locks need", "nothing fails for want of a right"))
        : findings;
  }
}
