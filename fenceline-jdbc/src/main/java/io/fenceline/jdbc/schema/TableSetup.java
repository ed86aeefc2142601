package io.fenceline.jdbc.schema;

import io.fenceline.StoreUnavailableException;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.DataSourceConnections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes sure, when a store is opened, that our tables are there, ours to write, and as we know
 * them.
 */
public final class TableSetup {
  static final int VERSION = 2;
  private static final long NONE = -1;
  private static final int TRIES = 5;

  private final Dialect dialect;
  private final Tables tables;
  private final Statements statements;
  private final Failures failures;

  public TableSetup(Dialect dialect, Tables tables, Statements statements, Failures failures) {
    this.dialect = dialect;
    this.tables = tables;
    this.statements = statements;
    this.failures = failures;
  }

  /**
   * Checks, and creates what is not there if that is wanted.
   *
   * @throws StoreUnavailableException if the database does not answer
   * @throws io.fenceline.StoreRefusedException saying what is missing
   */
  public void check(Connections connections, boolean creates) {
    try {
      connections.use(Connections.Purpose.WORK, this::checkOurs);
      long version = connections.use(Connections.Purpose.WORK, this::version);
      if (version == NONE) {
        // In PostgreSQL, tables in a schema that the user may not use look as if they were not
        // there:
        // others would be made elsewhere, and everything be locked twice.
        refuseIfMissing(connections, null);
      }
      for (int tries = 1; version == NONE && creates; tries++) {
        version = create(connections, tries == TRIES);
      }
      if (version == NONE) {
        throw new Failures.Unusable(
            "the tables "
                + tables.prefix()
                + "_* do not exist; create them with the statements of JdbcStores.schema()");
      }
      if (version != VERSION) {
        throw new Failures.Unusable(
            "the tables have format %d, but this version of Fenceline writes format %d; use the"
                    .formatted(version, VERSION)
                + " same version everywhere, or other tables");
      }
      // Once more: they may have come into being only since.
      connections.use(Connections.Purpose.WORK, this::checkOurs);
      connections.use(Connections.Purpose.WORK, db -> db.call(statements.checkWritable).update());
    } catch (SQLException e) {
      throw failures.of("The database can't be used for locks", named(connections, e));
    }
  }

  /** The error, with the rights that are missing if that is what it is about. */
  private SQLException named(Connections connections, SQLException e) {
    if (!dialect.isDenied(e) || e instanceof MissingRights) {
      return e;
    }
    try {
      refuseIfMissing(connections, e);
      return e;
    } catch (SQLException better) {
      return better instanceof MissingRights ? better : e;
    }
  }

  /** The user lacks rights. */
  private static final class MissingRights extends Failures.Unusable {
    private static final long serialVersionUID = 1L;

    MissingRights(List<String> missing, @Nullable SQLException cause) {
      super(
          "the user lacks "
              + String.join(", ", missing)
              + "; GRANT what docs/least-rights.md lists"
              + (cause == null ? "" : " (" + cause.getMessage() + ")"),
          cause);
    }
  }

  private void refuseIfMissing(Connections connections, @Nullable SQLException cause)
      throws SQLException {
    List<String> missing =
        connections.use(
            Connections.Purpose.WORK, db -> new Rights(dialect, statements).missing(db));
    if (!missing.isEmpty()) {
      throw new MissingRights(missing, cause);
    }
  }

  /** Before anything of the tables is touched: to read a view may be to run a function. */
  private Integer checkOurs(SqlConnection db) throws SQLException {
    List<String> found =
        db.call(statements.planted).set("trusted", tables.owner()).rows(row -> row.getString(1));
    if (!found.isEmpty()) {
      throw new Failures.Unusable(
          "the tables may have been tampered with: "
              + String.join(", ", found)
              + "; drop what is not yours, or keep the tables in a schema of their own");
    }
    return VERSION;
  }

  /** The version of the tables. */
  private Long version(SqlConnection db) throws SQLException {
    try {
      Long found = db.call(statements.version).row(row -> row.getLong(1));
      return found == null ? NONE : found;
    } catch (SQLException e) {
      if (dialect.failure(e) == Dialect.Failure.NO_TABLES) {
        return NONE;
      }
      boolean isOurs = dialect.meaning(e) != null || dialect.failure(e) == Dialect.Failure.RETRY;
      if (isOurs || e instanceof DataSourceConnections.NotOnThisThread) {
        throw e;
      }
      throw new Failures.Unusable(
          "the table %s_format is not Fenceline's; use other tables, or drop it (%s)"
              .formatted(tables.prefix(), e.getMessage()),
          e);
    }
  }

  /**
   * Creates the tables. Where another process does so at the same moment, "if not exists" does not
   * keep them apart, and one of them fails: it looks again.
   */
  private long create(Connections connections, boolean lastTry) throws SQLException {
    SQLException failed = null;
    try {
      connections.use(Connections.Purpose.WORK, this::create);
    } catch (SQLException e) {
      failed = e;
    }
    long version = connections.use(Connections.Purpose.WORK, this::version);
    if (version == NONE && lastTry && failed != null) {
      throw failed;
    }
    return version;
  }

  private Integer create(SqlConnection db) throws SQLException {
    for (String statement : dialect.schema(tables)) {
      Dialect.run(db.connection(), statement);
    }
    return VERSION;
  }
}
