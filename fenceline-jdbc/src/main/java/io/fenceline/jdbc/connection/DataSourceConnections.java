package io.fenceline.jdbc.connection;

import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.settings.Durations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections of a pool, borrowed for one request each: either our own pool, or one that the user
 * has handed in, whose connections go back as they came.
 */
public final class DataSourceConnections implements Connections {
  private final DataSource work;
  private final DataSource renewals;
  private final boolean foreign;
  private final boolean canBeCutOff;
  private final int atOnce;
  private final Duration operationTimeout;
  private final Runnable whenClosed;

  /** Whether this thread is one of Fenceline's own, to which no one has bound a transaction. */
  private static final ThreadLocal<Boolean> OWN_THREAD = ThreadLocal.withInitial(() -> false);

  /**
   * The connection may be in the middle of the caller's transaction: a data source that hands out
   * the one that is bound to this thread looks just like a pool that does not commit by itself.
   */
  public static final class NotOnThisThread extends SQLException {
    private static final long serialVersionUID = 1L;

    NotOnThisThread() {
      super("the connection may belong to the caller's transaction");
    }
  }

  /**
   * Connections of these pools.
   *
   * @param foreign whether the user has handed them in
   * @param canBeCutOff whether all connections have {@link BoundedSockets}
   */
  public DataSourceConnections(
      DataSource work,
      DataSource renewals,
      boolean foreign,
      boolean canBeCutOff,
      int atOnce,
      Duration operationTimeout,
      Runnable whenClosed) {
    this.work = work;
    this.renewals = renewals;
    this.foreign = foreign;
    this.canBeCutOff = canBeCutOff;
    this.atOnce = atOnce;
    this.operationTimeout = operationTimeout;
    this.whenClosed = whenClosed;
  }

  /** Runs something on a thread of ours, where no transaction of the caller can be met. */
  public static void unbound(Runnable task) {
    OWN_THREAD.set(true);
    try {
      task.run();
    } finally {
      OWN_THREAD.remove();
    }
  }

  @Override
  public <T extends @Nullable Object> T use(Purpose purpose, Work<T> task) throws SQLException {
    try (Connection connection = borrow(purpose)) {
      if (!foreign) {
        return task.on(new SqlConnection(connection, null, false));
      }
      return useForeign(connection, purpose, task);
    }
  }

  @Override
  public int atOnce() {
    return atOnce;
  }

  private Connection borrow(Purpose purpose) throws SQLException {
    try {
      return (purpose == Purpose.RENEWAL ? renewals : work).getConnection();
    } catch (SQLTransientConnectionException e) {
      if (!foreign) {
        throw e;
      }
      String advice =
          purpose == Purpose.RENEWAL && renewals == work
              ? "; give renewals a data source of their own with JdbcStores.renewals"
              : "";
      throw new SQLTransientConnectionException(
          "the data source gave no connection in time: all are in use, or the server can't be"
              + " reached"
              + advice
              + " ("
              + e.getMessage()
              + ")",
          e.getSQLState(),
          e);
    }
  }

  private <T extends @Nullable Object> T useForeign(
      Connection connection, Purpose purpose, Work<T> task) throws SQLException {
    boolean commitsByItself = connection.getAutoCommit();
    if (!commitsByItself && purpose != Purpose.LOOK && !OWN_THREAD.get()) {
      throw new NotOnThisThread();
    }
    int timeoutBefore = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, (int) operationTimeout.toMillis());
    try {
      if (!commitsByItself) {
        connection.setAutoCommit(true);
      }
      return task.on(new SqlConnection(connection, null, false));
    } finally {
      if (!connection.isClosed()) {
        if (!commitsByItself) {
          connection.setAutoCommit(false);
        }
        connection.setNetworkTimeout(Runnable::run, timeoutBefore);
      }
    }
  }

  /**
   * Our own pool of renewals has room for them; one that was given may have a single connection.
   */
  @Override
  public Purpose forRepeatedRenewals() {
    return foreign ? Purpose.WORK : Purpose.RENEWAL;
  }

  /** A pool that was given may wait for longer than whoever asks us does. */
  @Override
  public @Nullable Duration patience() {
    return foreign ? Durations.times(Durations.part(operationTimeout, 4), 3) : null;
  }

  @Override
  public @Nullable Duration callerTime() {
    boolean isInTime = borrowTime().compareTo(operationTimeout) < 0;
    return canBeCutOff && !foreign && isInTime ? operationTimeout : null;
  }

  @Override
  public Duration borrowTime() {
    return Pools.borrowTime(operationTimeout);
  }

  @Override
  public void close() {
    whenClosed.run();
  }

  @Override
  public String toString() {
    return (foreign ? "given" : "own") + " pool, timeout " + Durations.show(operationTimeout);
  }
}
