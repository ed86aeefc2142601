package io.fenceline.jdbc.connection;

import io.fenceline.jdbc.connection.Connections.Purpose;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqlConnection;
import io.fenceline.spi.AnswerTimeouts;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The way to the database: does what was asked on the calling thread if that need not wait, else on
 * another one, again where that is harmless, and says what went wrong in our own words.
 */
public final class Requests implements AutoCloseable {
  /** How often something is tried again that a deadlock or a renewal has come between. */
  private static final int TRIES = 10;

  /** Where this thread makes its next request; null on all threads but listeners'. */
  private static final ThreadLocal<@Nullable SqlConnection> HEARD_ON = new ThreadLocal<>();

  private final Connections connections;
  private final Dialect dialect;
  private final Failures failures;
  private final Time time;
  private final RequestQueue requests;
  private final @Nullable AnswerTimeouts patience;
  private final long callerNanos;
  private final long inLineNanos;
  private final RenewalThreads repeated = new RenewalThreads();
  private volatile boolean closed;

  public Requests(Connections connections, Dialect dialect, Failures failures, Time time) {
    this.connections = connections;
    this.dialect = dialect;
    this.failures = failures;
    this.time = time;
    Duration most = connections.patience();
    this.patience = most == null ? null : new AnswerTimeouts(time, most.toNanos());
    this.requests = new RequestQueue(time.lane(Lane.REQUEST), time, connections.atOnce());
    Duration kept = connections.callerTime();
    this.callerNanos = kept == null ? 0 : kept.toNanos();
    this.inLineNanos = callerNanos - connections.borrowTime().toNanos();
  }

  /**
   * Runs a task for a listener that has heard something. The first request of the task is made on
   * this thread and on the listener's own session: no other thread has to wake up, and a session
   * that has just said something need not be asked whether it is alive.
   *
   * <p>The listener hears nothing meanwhile, for the operation timeout at most.
   *
   * @return whether the session was used
   */
  public static boolean on(Connection session, Runnable task) {
    HEARD_ON.set(new SqlConnection(session, null, false));
    try {
      task.run();
      return HEARD_ON.get() == null;
    } finally {
      HEARD_ON.remove();
    }
  }

  /** The answer; does not block, but on the thread of a listener: see {@link #on}. */
  public <T> CompletableFuture<T> answer(String otherwise, Connections.Work<T> work) {
    SqlConnection heardOn = HEARD_ON.get();
    if (heardOn != null && callerNanos > 0) {
      HEARD_ON.remove();
      return answerOn(heardOn, otherwise, work);
    }
    try {
      Connections.Done<T> done = attemptNow(work);
      return done == null
          ? answerLater(otherwise, Purpose.WORK, work, requests)
          : CompletableFuture.completedFuture(done.result());
    } catch (SQLException | RuntimeException e) {
      return CompletableFuture.failedFuture(failures.of(otherwise, e));
    }
  }

  /**
   * As {@link #answer}, for a caller that waits for the answer on this thread: the request is made
   * on it, which saves waking two others, unless it could not be freed again.
   *
   * <p>It is free at the end of the operation timeout, and at an interrupt if it listens to those.
   * What a request that was cut off has done is not known, as of any that is not answered.
   */
  public <T> CompletableFuture<T> answerHere(
      String otherwise, boolean interruptible, Connections.Work<T> work) {
    if (callerNanos == 0 || !CallersThread.canBeKept()) {
      return answer(otherwise, work);
    }
    CallersThread caller = new CallersThread(time, callerNanos, interruptible);
    boolean[] begun = new boolean[1];
    if (!requests.enterNow()) {
      // Not for so long that the pool could keep it beyond its time.
      CompletableFuture<T> later = new CompletableFuture<>();
      Runnable instead = task(later, otherwise, Purpose.WORK, work);
      if (!requests.enter(inLineNanos, instead)) {
        return later;
      }
    }
    try {
      T done =
          caller.keep(
              () ->
                  attempt(
                      Purpose.WORK,
                      db -> {
                        begun[0] = true;
                        return work.on(db);
                      }));
      return CompletableFuture.completedFuture(done);
    } catch (SQLException | RuntimeException e) {
      if (!begun[0] && Thread.currentThread().isInterrupted()) {
        return answer(otherwise, work); // A pool gives nothing to a thread that is interrupted.
      }
      return CompletableFuture.failedFuture(failures.of(otherwise, e));
    } finally {
      requests.leave();
    }
  }

  private <T> CompletableFuture<T> answerOn(
      SqlConnection session, String otherwise, Connections.Work<T> work) {
    try {
      if (closed) {
        throw failures.closed();
      }
      CallersThread listener = new CallersThread(time, callerNanos, false);
      return CompletableFuture.completedFuture(listener.keep(() -> work.on(session)));
    } catch (SQLException | RuntimeException e) {
      boolean again =
          e instanceof SQLException failure && dialect.failure(failure) == Dialect.Failure.RETRY;
      return again
          ? answerLater(otherwise, Purpose.WORK, work, requests)
          : CompletableFuture.failedFuture(failures.of(otherwise, e));
    }
  }

  /** The answer to a renewal, on this thread, which is for renewals. */
  public <T> CompletableFuture<T> answerRenewal(String otherwise, Connections.Work<T> work) {
    try {
      return CompletableFuture.completedFuture(attempt(Purpose.RENEWAL, work));
    } catch (DataSourceConnections.NotOnThisThread e) {
      return answerLater(otherwise, Purpose.RENEWAL, work, time.lane(Lane.RENEWAL));
    } catch (SQLException | RuntimeException e) {
      return CompletableFuture.failedFuture(failures.of(otherwise, e));
    }
  }

  /** As {@link #answer}, for a renewal that may have to wait for its row, on another thread. */
  public <T> CompletableFuture<T> answerRepeated(String otherwise, Connections.Work<T> work) {
    return answerLater(otherwise, connections.forRepeatedRenewals(), work, repeated);
  }

  private <T> CompletableFuture<T> answerLater(
      String otherwise, Purpose purpose, Connections.Work<T> work, Executor threads) {
    CompletableFuture<T> later = new CompletableFuture<>();
    Turn turn = new Turn();
    Duration most = connections.patience();
    if (most != null && patience != null) {
      patience.watch(
          later,
          () -> {
            if (turn.giveUp()) {
              time.lane(Lane.WORK)
                  .execute(
                      () -> later.completeExceptionally(failures.noConnection(otherwise, most)));
            }
          });
    }
    threads.execute(task(later, otherwise, purpose, db -> turn.take(db, work)));
    return later;
  }

  /** A request as another thread makes it. */
  private <T> Runnable task(
      CompletableFuture<T> later, String otherwise, Purpose purpose, Connections.Work<T> work) {
    Runnable task =
        () -> {
          try {
            later.complete(attempt(purpose, work));
          } catch (SQLException | RuntimeException failure) {
            later.completeExceptionally(failures.of(otherwise, failure));
          } catch (Throwable failure) { // Whoever asked would wait for ever.
            later.completeExceptionally(failure);
            throw failure;
          }
        };
    return () -> DataSourceConnections.unbound(task);
  }

  /**
   * A request that waits for a connection, until it has one or is given up. What is given up is not
   * done any more: its caller has heard that nothing was.
   */
  private static final class Turn {
    private enum State {
      WAITING,
      BEGUN,
      GIVEN_UP
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

    boolean giveUp() {
      return state.compareAndSet(State.WAITING, State.GIVEN_UP);
    }

    <T> T take(SqlConnection db, Connections.Work<T> work) throws SQLException {
      state.compareAndSet(State.WAITING, State.BEGUN);
      if (state.get() == State.GIVEN_UP) {
        throw new SQLTransientConnectionException(
            "the request was abandoned before a connection was free");
      }
      return work.on(db);
    }
  }

  /** As {@link #answer}, on a thread of ours. */
  public <T> T look(String otherwise, Connections.Work<T> work) {
    try {
      return attempt(Purpose.LOOK, work);
    } catch (SQLException | RuntimeException e) {
      throw failures.of(otherwise, e);
    }
  }

  /** See {@link Connections#changes}. */
  public long changes() {
    try {
      return connections.changes();
    } catch (SQLException e) {
      throw failures.of("A look for changes failed", e);
    }
  }

  private <T> Connections.@Nullable Done<T> attemptNow(Connections.Work<T> work)
      throws SQLException {
    if (closed) {
      throw failures.closed();
    }
    return connections.useNow(work);
  }

  private <T> T attempt(Purpose purpose, Connections.Work<T> work) throws SQLException {
    for (int tries = 1; ; tries++) {
      if (closed) {
        throw failures.closed();
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
  public void refuse() {
    closed = true;
  }

  @Override
  public void close() {
    closed = true;
    repeated.close();
    connections.close();
  }
}
