package io.fenceline.jdbc;

import io.fenceline.StoreUnavailableException;
import java.sql.SQLException;

/**
 * Makes sure, when a store is opened, that our tables are there, ours to write, and as we know
 * them.
 */
final class Format {
  static final int VERSION = 1;
  private static final long NONE = -1;
  private static final int TRIES = 5;

  private final Dialect dialect;
  private final Tables tables;
  private final Statements statements;
  private final Errors errors;

  Format(Dialect dialect, Tables tables, Statements statements, Errors errors) {
    this.dialect = dialect;
    this.tables = tables;
    this.statements = statements;
    this.errors = errors;
  }

  /**
   * Checks, and creates what is not there if that is wanted.
   *
   * @throws StoreUnavailableException saying what is missing
   */
  void check(Connections connections, boolean creates) {
    try {
      long version = connections.use(Connections.Purpose.WORK, this::version);
      for (int tries = 1; version == NONE && creates; tries++) {
        version = create(connections, tries == TRIES);
      }
      if (version == NONE) {
        throw new SQLException(
            "the tables "
                + tables.prefix()
                + "_* are not there; create them as JdbcStore.schema() shows");
      }
      if (version != VERSION) {
        throw new SQLException(
            "the tables have format %d, but this version of Fenceline writes format %d; use the"
                    .formatted(version, VERSION)
                + " same version everywhere, or other tables");
      }
      connections.use(
          Connections.Purpose.WORK, session -> session.call(statements.checkWritable).update());
    } catch (SQLException e) {
      throw errors.of("The database can't be used for locks", e);
    }
  }

  /** The version of the tables. */
  private Long version(Session session) throws SQLException {
    try {
      Long found = session.call(statements.version).row(row -> row.getLong(1));
      return found == null ? NONE : found;
    } catch (SQLException e) {
      if (dialect.failure(e) == Dialect.Failure.NO_TABLES) {
        return NONE;
      }
      throw e;
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

  private Integer create(Session session) throws SQLException {
    for (String statement : dialect.schema(tables)) {
      Dialect.run(session.connection(), statement);
    }
    return VERSION;
  }
}
