package io.fenceline.jdbc;

import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.connection.SqliteConnections;
import io.fenceline.jdbc.connection.SqliteFile;
import io.fenceline.jdbc.diagnostics.Diagnostics;
import io.fenceline.jdbc.layout.Channels;
import io.fenceline.jdbc.layout.ClaimRow;
import io.fenceline.jdbc.layout.Tables;
import io.fenceline.jdbc.schema.TableSetup;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.jdbc.sql.Statements;
import io.fenceline.jdbc.waiting.PollInterval;
import io.fenceline.jdbc.waiting.SharedListener;
import io.fenceline.jdbc.waiting.SqliteListener;
import io.fenceline.jdbc.waiting.Waiters;
import io.fenceline.settings.Durations;
import io.fenceline.settings.LeaseLimits;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreContext;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;

/** Opens an SQLite file as a store. */
final class SqliteOpener {
  static final Guarantees GUARANTEES =
      new Guarantees(
          "sqlite",
          EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
          Certainty.YES,
          LeaseLimits.from(Duration.ofMillis(100)),
          "none: a process that is killed takes nothing away, and a power failure that takes the last"
              + " grants away ends their holders, too",
          "there is no failover: the file is on one machine, and ends with it; a process that is"
              + " stopped in the middle of a write keeps all others waiting until it goes on or ends",
          "set ahead, leases end early; set back, a dead holder's name opens one lease later",
          "tokens go on from the clock; a file must not be deleted or replaced while in use");

  private static final PollInterval UNTOLD = PollInterval.millis(1, 10);

  /**
   * While its bell can be rung, a waiter looks for what nobody tells it: a message that was lost.
   * Ends that pass are looked for when they pass. Each of many processes that wait sees the file
   * change with the signs of life of all others: two hundred that looked ten times a second had two
   * processors busy.
   */
  private static final PollInterval TOLD = PollInterval.millis(5, 1_000);

  private SqliteOpener() {}

  static LockStore open(Path file, JdbcStores.Settings settings, StoreContext context) {
    String description = "sqlite:" + file;
    Dialect dialect = new SqliteDialect();
    Failures failures = new Failures(description, dialect, List.of());
    SqliteFile.create(file, description);
    SqliteFile.checkLocal(file, description, SqliteFile::fileSystem);
    Tables tables = settings.tables;
    Statements statements = new Statements(dialect, tables);
    Connections connections;
    try {
      connections =
          SqliteConnections.open(
              file.toString(),
              context.time(),
              // Less than whoever asks waits for, so that the reason is heard.
              Durations.times(Durations.part(context.operationTimeout(), 4), 3));
    } catch (SQLException e) {
      if (SqliteConnections.NO_DRIVER.equals(e.getMessage())) {
        throw new StoreUnavailableException(description, SqliteConnections.NO_DRIVER, null);
      }
      throw failures.of("The file can't be used for locks", e);
    }
    try {
      new TableSetup(dialect, tables, statements, failures).check(connections, settings.creates);
      OpenDatabase database =
          new OpenDatabase(
              description,
              GUARANTEES,
              dialect,
              statements,
              connections,
              failures,
              new Diagnostics(dialect, statements, connection -> SqliteFile.findings(file)));
      JdbcStore store =
          new JdbcStore(context, database, settings.pollOr(UNTOLD), settings.hasFastPath);
      Waiters waiters = store.waiters;
      String name = Channels.inFileName(tables, ClaimRow.encode(context.client()));
      waiters.listenWith(
          SharedListener.of(
              List.of(description, name),
              () -> new SqliteListener(file, name, waiters::hintNow, waiters::lookSoon)),
          settings.pollOr(TOLD));
      waiters.tellWith(
          (client, id) -> SqliteListener.ring(file, Channels.inFileName(tables, client), id));
      return store;
    } catch (RuntimeException e) {
      connections.close();
      throw e;
    }
  }
}
