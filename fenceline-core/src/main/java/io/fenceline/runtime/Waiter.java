package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Obstacle;
import io.fenceline.time.Lane;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A caller that wants a hold, until it gets one, gets an error, or gives up.
 *
 * <p>It is settled once, by whoever comes first: the grant, the failure, the timeout, the cancel. A
 * grant that comes second finds the waiter settled, and goes to the next one.
 */
final class Waiter {
  /** What a waiter is settled with. */
  sealed interface Outcome permits Handle, Refusal, Failure, Gone {}

  /** A try found that the name is not free. */
  record Refusal(Obstacle obstacle) implements Outcome {}

  /** There is an error instead of a hold. */
  record Failure(Throwable cause) implements Outcome {}

  /** The caller was cancelled or interrupted. */
  record Gone() implements Outcome {}

  static final Gone GONE = new Gone();

  /** Counts as no limit; half of the longest wait, since the locks of a lockAll share one wait. */
  private static final long WITHOUT_LIMIT_NANOS = Durations.part(Durations.LONGEST, 2).toNanos();

  private static final VarHandle OUTCOME;
  private static final VarHandle TOLD;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OUTCOME = lookup.findVarHandle(Waiter.class, "outcome", Outcome.class);
      TOLD = lookup.findVarHandle(Waiter.class, "told", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final GrantTerms terms;
  final LockOptions options;

  /** Whether it queues; otherwise it asks once. */
  final boolean queues;

  final Duration maxWait;

  /** How long it waits at most. */
  final long limitNanos;

  final Moment since;

  /** The thread that waits, or null if a future does. */
  final @Nullable Thread thread;

  /** Whether an interrupt of that thread ends the wait. */
  final boolean interruptible;

  /** Whether the outcome completes a user's future, on a thread where user code may run. */
  private final boolean forUser;

  /** Its report to observers; null if nobody asks for it. */
  final @Nullable AcquireObservation watched;

  /** Makes its handle of a hold. */
  final Handle.Factory handles;

  private volatile @Nullable Outcome outcome;

  @SuppressWarnings("UnusedVariable") // Used through its VarHandle.
  private volatile boolean told;

  private volatile @Nullable Runnable whenSettled;
  private volatile @Nullable Predicate<Outcome> taker;
  private volatile Time.@Nullable Timer timer;

  /** A caller that waits on this thread. */
  Waiter(
      LeaseLock<?> lock,
      boolean queues,
      Duration maxWait,
      boolean interruptible,
      @Nullable AcquireObservation watched) {
    this(lock, queues, maxWait, Thread.currentThread(), interruptible, Lane.CALLBACK, watched);
  }

  /** A caller that waits with a future, which is completed on this lane. */
  Waiter(
      LeaseLock<?> lock,
      boolean queues,
      Duration maxWait,
      Lane lane,
      @Nullable AcquireObservation watched) {
    this(lock, queues, maxWait, null, false, lane, watched);
  }

  private Waiter(
      LeaseLock<?> lock,
      boolean queues,
      Duration maxWait,
      @Nullable Thread thread,
      boolean interruptible,
      Lane lane,
      @Nullable AcquireObservation watched) {
    Engine engine = lock.engine;
    this.terms = lock.terms;
    this.options = lock.options;
    this.handles = lock.handles;
    this.queues = queues;
    this.maxWait = queues || !maxWait.isZero() ? maxWait : engine.settings.operationTimeout();
    this.limitNanos = this.maxWait.toNanos();
    this.since = engine.time.now();
    this.thread = thread;
    this.interruptible = interruptible;
    this.forUser = lane == Lane.CALLBACK;
    this.watched = watched;
  }

  /** Whether a thread waits without limit. */
  boolean waitsForEver() {
    return thread != null && limitNanos >= WITHOUT_LIMIT_NANOS;
  }

  /** Settles it, unless it is settled; {@link #wake} tells it. */
  boolean settle(Outcome with) {
    return OUTCOME.compareAndSet(this, null, with);
  }

  /** What it was settled with, or null. */
  @Nullable Outcome outcome() {
    return outcome;
  }

  boolean isSettled() {
    return outcome != null;
  }

  /** Reports that its caller gets an error, before it has entered a queue. */
  void failed(Throwable cause, Engine engine) {
    if (watched != null && !(outcome instanceof Handle)) {
      watched.settled(new Failure(cause), engine.time.nanos());
    }
  }

  /** Sets what runs when it is settled, whatever the outcome; called before it is queued. */
  void whenSettled(Runnable action) {
    whenSettled = action;
  }

  /**
   * Sets who takes the outcome of an asynchronous acquire.
   *
   * @param taker returns whether it took the outcome; called once, at once if there is an outcome
   */
  void takenBy(Predicate<Outcome> taker) {
    this.taker = taker;
    tell();
  }

  /** Sets the timer that makes it give up; it is cancelled when the waiter is settled. */
  void timedBy(Time.Timer timer) {
    this.timer = timer;
    if (isSettled()) {
      timer.cancel();
    }
  }

  /**
   * Tells observers, listeners and the caller what a waiter was settled with; called once, under no
   * monitor. A future is completed on another thread: what depends on it may be slow, and may
   * acquire the next lock.
   */
  void wake(Engine engine) {
    try {
      if (outcome instanceof Handle handle) {
        handle.callerHold.tellBegun();
      } else if (watched != null) {
        watched.settled(outcome, engine.time.nanos());
      }
    } finally {
      if (thread != null) {
        LockSupport.unpark(thread);
      }
      Runnable action = whenSettled;
      if (action != null) {
        action.run();
      }
      Time.Timer set = timer;
      if (set != null) {
        set.cancel();
      }
      if (taker != null) {
        engine.time.lane(forUser ? Lane.CALLBACK : Lane.WORK).execute(this::tell);
      }
    }
  }

  private void tell() {
    Outcome settled = outcome;
    Predicate<Outcome> to = taker;
    if (settled == null || to == null || !TOLD.compareAndSet(this, false, true)) {
      return;
    }
    if (!to.test(settled) && settled instanceof Handle handle) {
      handle.abandon(); // Cancelled at the very moment that it was granted.
    }
  }
}
