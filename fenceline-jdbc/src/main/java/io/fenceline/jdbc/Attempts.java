package io.fenceline.jdbc;

import io.fenceline.jdbc.Connections.Purpose;
import io.fenceline.spi.Lane;
import io.fenceline.spi.Time;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;

/**
 * The way to the database: does what was asked on the calling thread where it can, again where that
 * is harmless, and says what went wrong in our own words.
 */
final class Attempts implements AutoCloseable {
  /** How often something is tried again that a deadlock or a renewal has come between. */
  private static final int TRIES = 10;

  private final Connections connections;
  private final Dialect dialect;
  private final Errors errors;
  private final Time time;
  private volatile boolean closed;

  Attempts(Connections connections, Dialect dialect, Errors errors, Time time) {
    this.connections = connections;
    this.dialect = dialect;
    this.errors = errors;
    this.time = time;
  }

  /** The answer, at once on this thread unless this thread may be in the caller's transaction. */
  <T> CompletableFuture<T> answer(String otherwise, Purpose purpose, Connections.Work<T> work) {
    try {
      return CompletableFuture.completedFuture(attempt(purpose, work));
    } catch (DataSourceConnections.NotOnThisThread e) {
      CompletableFuture<T> later = new CompletableFuture<>();
      Runnable task =
          () -> {
            try {
              later.complete(attempt(purpose, work));
            } catch (SQLException | RuntimeException failure) {
              later.completeExceptionally(errors.of(otherwise, failure));
            }
          };
      Lane lane = purpose == Purpose.RENEWAL ? Lane.RENEWAL : Lane.WORK;
      time.lane(lane).execute(() -> DataSourceConnections.onOwnThread(task));
      return later;
    } catch (SQLException | RuntimeException e) {
      return CompletableFuture.failedFuture(errors.of(otherwise, e));
    }
  }

  /** As {@link #answer}, on a thread of ours. */
  <T> T look(String otherwise, Connections.Work<T> work) {
    try {
      return attempt(Purpose.LOOK, work);
    } catch (SQLException | RuntimeException e) {
      throw errors.of(otherwise, e);
    }
  }

  /** See {@link Connections#changes}. */
  long changes() {
    try {
      return connections.changes();
    } catch (SQLException e) {
      throw errors.of("A look for changes failed", e);
    }
  }

  private <T> T attempt(Purpose purpose, Connections.Work<T> work) throws SQLException {
    for (int tries = 1; ; tries++) {
      if (closed) {
        throw errors.closed();
      }
      try {
        return connections.use(purpose, work);
      } catch (SQLException e) {
        if (dialect.failure(e) != Dialect.Failure.RETRY || tries >= TRIES) {
          throw e;
        }
      }
    }
  }

  /** From now on, whatever is asked fails. */
  void refuse() {
    closed = true;
  }

  @Override
  public void close() {
    closed = true;
    connections.close();
  }
}
