package io.fenceline.jdbc.waiting;

import io.fenceline.jdbc.connection.UnboundThread;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Sql;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.jdbc.sql.Statements;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Hears that it is the turn of a claim of this process, on a connection and a thread of its own:
 * MariaDB sends no messages, but a statement that sleeps ends when another session says so.
 *
 * <p>The connection has one of the server's own locks, by the name of the process; whoever makes
 * room ends the statement of whoever has that lock. That is the bell. It does not say whose turn it
 * is, and what is heard is a hint. While it is not connected, waiting goes on by looking.
 */
public final class MariaDbListener implements NotificationListener {
  /*
   * How a ring would be lost, and why it isn't:
   *
   * 1. It comes between two sleeps, when the server drops it. It comes after the commit that it tells of,
   *    so the next sleep, which begins with a look, finds the name free, if it looks at it.
   * 2. That sleep does not look at the name, because its list was made before the claim was known here.
   *    The claim knows, by its ArmedBell, which sleep was the last to begin before it was sent, and from the
   *    statement that put it into the queue whether the server had begun that sleep by then: each has
   *    a lock of its own while it runs. If so, and no other has begun since, the ring ends that sleep, and
   *    the claim is known before another list is made. If not, the claim is looked for.
   * 3. Nobody is looked at for whose name a claim is on its way: its answer decides, and tells who is next.
   * 4. The session is another one by now (a driver or a pooler has reconnected): after each sleep that
   *    nobody ended, it asks whether the lock is still its own.
   * 5. Whoever rings may not: it is another user, or on another server of a cluster. Then a look finds what
   *    should have been told, and until the bell is heard again, looks are as frequent as without it.
   *
   * How a ring would hit someone else: the lock's holder is asked for by the statement that ends its
   * statement; connections have ids that are not used again while a server runs. Before a
   * connection goes back to a pool, it gives the lock back.
   */
  private static final int SLEEP_SECONDS = 30;
  private static final long EARLY_NANOS = (SLEEP_SECONDS - 1) * 1_000_000_000L;
  private static final int INTERRUPTED = 1317;

  /** Whoever rings or looks without end must not keep the server busy. */
  private static final int MOST_SLEEPS_A_SECOND = 500;

  private static final int MOST_NAMES = 4 * Sql.LONGEST_LIST;
  private static final long FIRST_PAUSE_NANOS = 200_000_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;
  private static final long BUSY_PAUSE_NANOS = 20_000_000;
  private static final int MOST_TRIES_TO_END = 10;
  private static final long END_PAUSE_MILLIS = 100;

  /** No statement of ours is to be ended by a limit. */
  private static final String WITHOUT_LIMIT =
      "SET @fenceline_limit = @@SESSION.max_statement_time, SESSION max_statement_time = 0";

  private static final String AS_BEFORE =
      "SET SESSION max_statement_time = COALESCE(@fenceline_limit, @@SESSION.max_statement_time)";

  private final ListenerSource source;
  private final Statements.Bell statements;
  private final String client;
  private final Supplier<Collection<String>> names;
  private final Runnable rung;
  private final Runnable missed;
  private final String mark;
  private volatile boolean closed;
  private volatile boolean listening;
  private volatile boolean doubted;
  private volatile long sleep;

  // Guarded by this.
  private @Nullable Thread thread;

  /** How long an answer may take that comes at the end of a sleep. */
  public static int answerMillis(long operationMillis) {
    return (int) (SLEEP_SECONDS * 1_000 + operationMillis);
  }

  /**
   * A listener that has not started.
   *
   * @param client by whose process the bell is found
   * @param names to be looked at before it sleeps
   * @param rung hears that it is someone's turn
   * @param missed called when it listens from then on, and may have missed something before; and
   *     when it no longer does
   */
  public MariaDbListener(
      ListenerSource source,
      Statements.Bell statements,
      String client,
      Supplier<Collection<String>> names,
      Runnable rung,
      Runnable missed) {
    this.source = source;
    this.statements = statements;
    this.client = client;
    this.names = names;
    this.rung = rung;
    this.missed = missed;
    byte[] random = new byte[12];
    new SecureRandom().nextBytes(random);
    this.mark = "fl." + HexFormat.of().formatHex(random) + ".";
  }

  @Override
  public synchronized void start() {
    if (thread == null && !closed) {
      thread = UnboundThread.of(this::run, "fenceline-listen");
      thread.start();
    }
  }

  @Override
  public boolean isHearing() {
    return listening && !doubted;
  }

  @Override
  public @Nullable ArmedBell watch() {
    long now = sleep;
    return isHearing() ? new ArmedBell(now, mark + now) : null;
  }

  @Override
  public boolean covers(ArmedBell watch) {
    return watch.covers(sleep);
  }

  @Override
  public void doubt() {
    doubted = true;
  }

  private void run() {
    long pause = FIRST_PAUSE_NANOS;
    while (!closed) {
      try (Connection opened = source.open()) {
        opened.setAutoCommit(true);
        SqlConnection db = new SqlConnection(opened, null, false);
        boolean isUnchanged = false;
        try {
          isUnchanged = !isFound(db);
          if (!isUnchanged) {
            pause = FIRST_PAUSE_NANOS;
            Dialect.run(opened, WITHOUT_LIMIT);
            listen(db);
          }
        } finally {
          if (!isUnchanged) {
            leave(opened);
          }
        }
      } catch (SQLException | RuntimeException e) {
        // It tries again.
      }
      boolean wasListening = listening;
      listening = false;
      if (wasListening && !closed) {
        missed.run(); // From now on, those who wait have to look for themselves.
      }
      if (!closed) {
        LockSupport.parkNanos(this, pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_NANOS);
      }
    }
  }

  /** A pool may lend the connection to someone else, who must not be the bell then. */
  private static void leave(Connection opened) throws SQLException {
    boolean isAsBefore = false;
    try {
      Dialect.run(opened, "DO RELEASE_ALL_LOCKS()");
      Dialect.run(opened, AS_BEFORE);
      isAsBefore = true;
    } finally {
      if (!isAsBefore) {
        opened.abort(Runnable::run);
      }
    }
  }

  /** Takes the lock; another process that is called like this one may have it. */
  private boolean isFound(SqlConnection db) throws SQLException {
    Integer taken = db.call(statements.listen()).set("client", client).row(row -> row.getInt(1));
    return taken != null && taken == 1;
  }

  private void listen(SqlConnection db) throws SQLException {
    boolean isFirst = true;
    long second = System.nanoTime();
    int sleeps = 0;
    while (!closed) {
      long number = sleep + 1;
      sleep = number; // Before the list is made.
      List<String> quiet = List.copyOf(names.get());
      listening = quiet.size() <= MOST_NAMES;
      if (isFirst) {
        isFirst = false;
        doubted = false;
        missed.run();
      }
      // While it is doubted, others look: that it ends early then can only be because it was rung.
      boolean looks = listening && !doubted;
      if (sleeps(db, number, looks ? quiet : List.of())) {
        if (!looks) {
          doubted = false;
        }
        rung.run();
      } else if (!isFound(db)) {
        return;
      }
      sleeps++;
      if (System.nanoTime() - second > 1_000_000_000L) {
        second = System.nanoTime();
        sleeps = 0;
      } else if (sleeps > MOST_SLEEPS_A_SECOND) {
        LockSupport.parkNanos(this, BUSY_PAUSE_NANOS);
      }
    }
  }

  /** Sleeps until the bell is rung, it is someone's turn, or long enough; whether it was sooner. */
  private boolean sleeps(SqlConnection db, long number, List<String> quiet) throws SQLException {
    boolean looks = !quiet.isEmpty();
    SqlConnection.Call call =
        looks ? db.call(statements.sleep(), quiet.size()) : db.call(statements.sleepOnly());
    if (looks) {
      call.set("names", quiet.stream().map(name -> name.getBytes(StandardCharsets.UTF_8)).toList());
      call.set("client", client);
    }
    // A sleep that was ended at once may not have let go of the lock before its own.
    call.set("before", mark + (number - 1)).set("older", mark + (number - 2));
    call.set("armed", mark + number).set("seconds", SLEEP_SECONDS);
    long begun = System.nanoTime();
    try {
      call.update();
    } catch (SQLException e) {
      if (e.getErrorCode() != INTERRUPTED) {
        throw e;
      }
      return true;
    }
    return System.nanoTime() - begun < EARLY_NANOS;
  }

  @Override
  public void close() {
    Thread running;
    synchronized (this) {
      closed = true;
      running = thread;
    }
    if (running != null) {
      LockSupport.unpark(running);
      UnboundThread.of(() -> endSleep(running), "fenceline-listen-end").start();
    }
  }

  /**
   * Ends the sleep, over another connection. Not by the id of ours, as the driver would: where a
   * balancer stands before several servers, the connection that has that id may be a stranger's.
   */
  private void endSleep(Thread running) {
    if (sleep == 0) {
      return;
    }
    try (Connection other = source.open()) {
      for (int tries = 0; tries < MOST_TRIES_TO_END && running.isAlive(); tries++) {
        endSleep(other);
        running.join(END_PAUSE_MILLIS); // It may have been about to begin.
      }
    } catch (SQLException | RuntimeException | InterruptedException e) {
      // It ends by itself.
    }
  }

  /** Nobody has the lock if the sleep has not begun, or is at another server. */
  private void endSleep(Connection other) throws SQLException {
    String block =
        "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR 1094 BEGIN END;"
            + " KILL QUERY IS_USED_LOCK('%s'); END";
    Dialect.run(other, block.formatted(mark + sleep));
  }
}
