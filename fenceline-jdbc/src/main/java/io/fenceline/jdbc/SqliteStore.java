package io.fenceline.jdbc;

import io.fenceline.Guarantee;
import io.fenceline.Guarantees;
import io.fenceline.spi.Durations;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreContext;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;

/** Opens an SQLite file as a store. */
final class SqliteStore {
  private static final Guarantees GUARANTEES =
      new Guarantees(
          "sqlite",
          EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
          Duration.ofMillis(100),
          Durations.LONGEST,
          "there is no failover: the file is on one machine, and ends with it",
          "set ahead, leases end early; set back, a dead holder's name opens one lease later",
          "tokens go on from the clock; a file must not be deleted or replaced while in use");

  private SqliteStore() {}

  static LockStore open(Path file, Tables tables, StoreContext context) {
    String description = "sqlite:" + file;
    Dialect dialect = new SqliteDialect();
    Errors errors = new Errors(description, dialect, List.of());
    SqliteFile.createFolder(file, description);
    Statements statements = new Statements(dialect, tables);
    Connections connections;
    try {
      connections = SqliteConnections.open(file, context.time(), context.operationTimeout());
    } catch (SQLException e) {
      throw errors.of("The file can't be used for locks", e);
    }
    try {
      new Format(dialect, tables, statements, errors).check(connections, true);
      return new SqlLockStore(
          description,
          GUARANTEES,
          context,
          connections,
          dialect,
          statements,
          errors,
          Polling.millis(1, 10));
    } catch (RuntimeException e) {
      connections.close();
      throw e;
    }
  }
}
