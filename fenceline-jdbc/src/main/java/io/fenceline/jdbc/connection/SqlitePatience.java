package io.fenceline.jdbc.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.LockSupport;
import org.sqlite.BusyHandler;

/**
 * How a connection waits for whoever writes to the file: in short steps at first.
 *
 * <p>SQLite's own steps are of 1, 2, 5, 10, … milliseconds, and a transaction of ours takes a tenth
 * of the first one: those who hand a lock to each other were asleep for most of the time.
 *
 * <p>Used by whoever has the connection, and by nobody else.
 */
final class SqlitePatience extends BusyHandler {
  private static final long SHORTEST_STEP_NANOS = 50_000;
  private static final long LONGEST_STEP_NANOS = 10_000_000;

  private long mostNanos;
  private long since;
  private boolean waiting;

  private SqlitePatience() {}

  /** Lets a connection wait like this; not at all, until it is said for how long. */
  static SqlitePatience of(Connection connection) throws SQLException {
    SqlitePatience patience = new SqlitePatience();
    setHandler(connection, patience);
    return patience;
  }

  /** What comes next waits no longer than this, each time that it has to. */
  void atMost(long nanos) {
    mostNanos = nanos;
    waiting = false;
  }

  /** Waits a quarter of what it has waited already; 0 gives up. */
  @Override
  protected int callback(int tries) {
    long now = System.nanoTime();
    if (tries == 0 || !waiting) {
      since = now;
      waiting = true;
    }
    long waited = now - since;
    if (waited >= mostNanos) {
      return 0;
    }
    long step = Math.max(SHORTEST_STEP_NANOS, Math.min(waited / 4, LONGEST_STEP_NANOS));
    pause(now + Math.min(step, mostNanos - waited));
    return 1;
  }

  /**
   * An interrupt is kept for later, as everywhere in a driver. That it is kept lets the next park
   * return at once, so one is not enough.
   */
  private void pause(long endNanos) {
    boolean interrupted = false;
    for (long left = endNanos - System.nanoTime(); left > 0; left = endNanos - System.nanoTime()) {
      interrupted |= Thread.interrupted();
      LockSupport.parkNanos(this, left);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
