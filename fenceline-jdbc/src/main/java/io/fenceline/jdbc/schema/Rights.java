package io.fenceline.jdbc.schema;

import io.fenceline.diagnosis.Finding;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which rights the user lacks, of those that locks need: see docs/least-rights.md. */
public final class Rights {
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

  public Rights(Dialect dialect, Statements statements) {
    this.dialect = dialect;
    this.tables = statements.tables.words();
    this.statements = statements;
  }

  /** What is missing, as {@code GRANT} names it; nothing where that can't be told. */
  List<String> missing(SqlConnection db) throws SQLException {
    if (statements.rights != null) {
      return db.call(statements.rights).rows(row -> row.getString(1));
    }
    List<String> missing = new ArrayList<>();
    if (dialect.probesRights()) {
      for (String right : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
        probe(db, right, "locks", "name", missing);
        probe(db, right, "claims", "name", missing);
      }
      probe(db, "SELECT", "format", "version", missing);
      probe(db, "UPDATE", "format", "version", missing);
    }
    return missing;
  }

  private void probe(
      SqlConnection db, String right, String table, String column, List<String> missing) {
    String name = String.valueOf(tables.get(table));
    try {
      Dialect.run(db.connection(), String.valueOf(PROBES.get(right)).formatted(name, column));
    } catch (SQLException e) {
      // Rights are looked at before anything else is.
      if (dialect.isDenied(e)) {
        missing.add(right + " ON " + name);
      }
    }
  }

  /** What a diagnosis says of them. */
  public List<Finding> findings(SqlConnection db) throws SQLException {
    if (statements.rights == null && !dialect.probesRights()) {
      return List.of();
    }
    List<Finding> findings = new ArrayList<>();
    for (String right : missing(db)) {
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
