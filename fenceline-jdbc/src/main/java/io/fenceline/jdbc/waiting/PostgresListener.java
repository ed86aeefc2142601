package io.fenceline.jdbc.waiting;

import io.fenceline.jdbc.connection.UnboundThread;
import io.fenceline.jdbc.sql.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Hears PostgreSQL's notifications, on a connection and a thread of its own, which also ask for the
 * claim that a notification names if no other claim waits here.
 *
 * <p>What it hears is a hint. While it is not connected, waiting goes on by looking.
 */
public final class PostgresListener extends HearingListener {
  /*
   * A message is sent with the commit that makes room, and the claim that it names was committed before, while
   * this session listened. How it would be lost all the same, and what then:
   *
   * 1. It comes before the answer that says that its claim waits. It is remembered by its id.
   * 2. The connection breaks. All look when that is noticed, and again when there is another one.
   * 3. The connection is dead, and nobody has noticed; or whoever made room has stopped before it told. Who waits
   *    looks with each sign of life, and when the time of the holder or of the head is over. That look finds what
   *    should have been told: then these ears are doubted, and looks are as frequent as without them.
   *
   * A claim that is asked for on this connection: what comes meanwhile is kept by the driver. If the answer does not
   * come within the operation timeout, or the connection breaks, the claim's outcome is not known, as anywhere, and 2
   * follows. A transaction that can't even be rolled back ends the connection. Whoever joins meanwhile is told by
   * that much later.
   */
  private static final int WAIT_MILLIS = 30_000;
  private static final long ASK_NANOS = 2_000_000_000L;
  private static final long FIRST_PAUSE_NANOS = 200_000_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;

  /** A read without an answer is normal here; how long it waits is said for each. */
  public static final int ANSWER_MILLIS = 0;

  private final ListenerSource source;
  private final String listen;
  private final Hint hint;
  private final Runnable missed;
  private volatile boolean closed;

  // Guarded by this.
  private @Nullable Thread thread;
  private @Nullable Connection connection;

  /** Hears whose turn has come, by a session that may be used for it. */
  @FunctionalInterface
  public interface Hint {
    /** Returns whether the session was used. */
    boolean hear(Connection session, String id);
  }

  /**
   * A listener that has not started.
   *
   * @param missed called when it listens from then on, and may have missed something before; and
   *     when it no longer does
   */
  public PostgresListener(ListenerSource source, String channel, Hint hint, Runnable missed) {
    this.source = source;
    this.listen = "LISTEN " + channel;
    this.hint = hint;
    this.missed = missed;
  }

  /** Starts listening, if it has not started yet. */
  @Override
  public synchronized void start() {
    if (thread == null && !closed) {
      thread = UnboundThread.of(this::run, "fenceline-listen");
      thread.start();
    }
  }

  private void run() {
    long pause = FIRST_PAUSE_NANOS;
    while (!closed) {
      try (Connection opened = source.open()) {
        if (!keep(opened)) {
          return;
        }
        Dialect.run(opened, listen);
        hearing.opened();
        missed.run();
        pause = FIRST_PAUSE_NANOS;
        PGConnection notified = opened.unwrap(PGConnection.class);
        long asked = System.nanoTime();
        while (!closed) {
          PGNotification[] heard = notified.getNotifications(WAIT_MILLIS);
          int count = heard == null ? 0 : heard.length;
          for (int i = 0; heard != null && i < count; i++) {
            hearing.heard();
            if (hint.hear(opened, heard[i].getParameter())) {
              asked = System.nanoTime();
            }
          }
          if (count == 0 || System.nanoTime() - asked > ASK_NANOS) {
            // A socket that is dead says nothing, either: a question tells the difference. And what
            // comes without one has a bound, of bytes and of time: see BoundedSockets.
            Dialect.run(opened, "SELECT 1");
            asked = System.nanoTime();
          }
        }
      } catch (SQLException | RuntimeException e) {
        boolean wasHearing = hearing.closed();
        if (wasHearing && !closed) {
          missed.run(); // From now on, those who wait have to look for themselves.
        }
        if (!closed) {
          LockSupport.parkNanos(this, pause);
          pause = Math.min(pause * 2, LONGEST_PAUSE_NANOS);
        }
      }
    }
  }

  private synchronized boolean keep(Connection opened) {
    connection = opened;
    return !closed;
  }

  @Override
  public void close() {
    Connection open;
    Thread running;
    synchronized (this) {
      closed = true;
      open = connection;
      running = thread;
    }
    if (open != null) {
      try {
        open.abort(Runnable::run);
      } catch (SQLException e) {
        // It ends with its next wait.
      }
    }
    if (running != null) {
      LockSupport.unpark(running);
    }
  }
}
