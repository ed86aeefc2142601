package io.fenceline.jdbc.diagnostics;

import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.schema.Rights;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What is wrong with a database, or with the rights of its user, as far as locks go. */
public final class Diagnostics {
  private final Dialect dialect;
  private final Statements statements;
  private final Surroundings surroundings;

  /** What there is to say besides settings and rights: of a pooler, or of a file. */
  @FunctionalInterface
  public interface Surroundings {
    Surroundings NONE = connection -> List.of();

    List<Finding> findings(Connection connection) throws SQLException;
  }

  public Diagnostics(Dialect dialect, Statements statements, Surroundings surroundings) {
    this.dialect = dialect;
    this.statements = statements;
    this.surroundings = surroundings;
  }

  public List<Finding> run(SqlConnection db) throws SQLException {
    List<Finding> findings = new ArrayList<>(surroundings.findings(db.connection()));
    findings.addAll(settings(db));
    findings.addAll(new Rights(dialect, statements).findings(db));
    return findings;
  }

  /** Reads the settings; what is serious about them is always that a crash forgets grants. */
  private List<Finding> settings(SqlConnection db) throws SQLException {
    return db.call(statements.diagnose)
        .rows(row -> of(dialect.title(), row.getString(1), String.valueOf(row.getString(2))));
  }

  /** What is promised of a server with these settings. */
  public Guarantees durable(Guarantees usual, Connections connections, Failures failures) {
    List<Finding> findings;
    try {
      findings = connections.use(Connections.Purpose.WORK, this::settings);
    } catch (SQLException e) {
      return usual.durable(
          Certainty.UNKNOWN,
          String.valueOf(failures.of("the settings could not be read", e).getMessage()));
    }
    String bad =
        findings.stream()
            .filter(finding -> finding.severity() == Finding.Severity.SERIOUS)
            .map(finding -> finding.found() + ", so " + finding.meaning())
            .collect(Collectors.joining("; "));
    return bad.isEmpty()
        ? usual.durable(Certainty.YES, "none: a grant is on disk before it is answered")
        : usual.durable(Certainty.NO, bad);
  }

  private static Finding of(String title, String item, String value) {
    String found = item + " = " + (value.isEmpty() ? "(none)" : value);
    return switch (item) {
      case "version" -> Finding.ok("version", title + " " + value, "answers");
      case "fsync", "full_page_writes" ->
          value.equals("on")
              ? Finding.ok(item, found, "a crash of the machine forgets no grant")
              : Finding.serious(
                  item,
                  found,
                  "a crash of the machine may forget grants that were answered",
                  "set it to on");
      case "persistence" ->
          value.equals("logged")
              ? Finding.ok(item, "the tables are logged", "a crash of the server forgets no grant")
              : Finding.serious(
                  item,
                  "the tables are unlogged",
                  "a crash of the server empties them, and every lock that is held is given again",
                  "ALTER TABLE … SET LOGGED");
      case "innodb_doublewrite" ->
          value.equals("0") || value.equalsIgnoreCase("off")
              ? Finding.serious(
                  item,
                  found,
                  "a crash of the machine may leave torn pages, and grants with them",
                  "set it to ON")
              : Finding.ok(item, found, "a crash of the machine leaves no torn page");
      case "sync_binlog" ->
          value.equals("1") || value.equals("no binary log")
              ? Finding.ok(item, found, "a crash of the machine forgets no grant")
              : Finding.serious(
                  item,
                  found,
                  "a crash of the machine rolls back what its binary log lacks, grants among it",
                  "set it to 1");
      case "engine" ->
          value.equals("InnoDB")
              ? Finding.ok(item, found, "the tables have transactions")
              : Finding.serious(
                  item,
                  found,
                  "tables without transactions can't keep locks",
                  "ALTER TABLE … ENGINE = InnoDB");
      case "innodb_flush_log_at_trx_commit" ->
          // 3 is MariaDB's, and flushes at the prepare, too.
          value.equals("1") || value.equals("3")
              ? Finding.ok(item, found, "a crash of the server forgets no grant")
              : Finding.serious(
                  item,
                  found,
                  "a crash may forget the grants of the last second, and give a lock twice",
                  "set it to 1; it can't be set for our statements alone");
      case "synchronous_standby_names" ->
          value.isEmpty()
              ? Finding.note(
                  item,
                  found,
                  "a standby that is promoted may lack the last grants; tokens still rise as long"
                      + " as its clock is not behind",
                  "name a synchronous standby if you fail over, or guard writes with a fence")
              : Finding.ok(item, found, "a promoted standby has all grants");
      case "journal_mode" ->
          value.equalsIgnoreCase("wal")
              ? Finding.ok(item, found, "readers do not wait for writers")
              : Finding.serious(
                  item,
                  found,
                  "another program has changed the file's journal mode while it is in use",
                  "let no other program write to this file");
      case "synchronous" ->
          value.equals("0")
              ? Finding.serious(
                  item, found, "a power failure may damage the file", "set it to NORMAL")
              : Finding.ok(item, found, "a power failure does not damage the file");
      default -> Finding.note(item, found, "", "");
    };
  }
}
