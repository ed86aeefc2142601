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
import java.util.function.Function;
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
  private static final Duration WITHOUT_LIMIT = Durations.part(Durations.LONGEST, 2);

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
  final Moment since;

  /** The thread that waits, or null if a future does. */
  private final @Nullable Thread thread;

  /** Whether an interrupt of that thread ends the wait. */
  private final boolean interruptible;

  /** Whether the outcome completes a user's future, on a thread where user code may run. */
  private final boolean forUser;

  /** Its report to observers; null if nobody asks for it. */
  final @Nullable AcquireObservation watched;

  private final Function<CallerHold, Handle> handles;
  private volatile @Nullable Outcome outcome;

  @SuppressWarnings("UnusedVariable") // Used through its VarHandle.
  private volatile boolean told;

  private volatile @Nullable Runnable whenSettled;
  private volatile @Nullable Predicate<Outcome> taker;
  private volatile Time.@Nullable Timer timer;

  Waiter(
      GrantTerms terms,
      LockOptions options,
      boolean queues,
      Duration maxWait,
      Moment since,
      @Nullable Thread thread,
      boolean interruptible,
      Lane lane,
      @Nullable AcquireObservation watched,
      Function<CallerHold, Handle> handles) {
    this.terms = terms;
    this.options = options;
    this.queues = queues;
    this.maxWait = maxWait;
    this.since = since;
    this.thread = thread;
    this.interruptible = interruptible;
    this.forUser = lane == Lane.CALLBACK;
    this.watched = watched;
    this.handles = handles;
  }

  /** How long it waits at most. */
  long limitNanos() {
    return maxWait.toNanos();
  }

  /** Whether it waits for at least so long. */
  boolean outlasts(long nanos) {
    return limitNanos() >= nanos;
  }

  boolean isInterruptible() {
    return interruptible;
  }

  /** The thread that waits without limit; null if there is none. */
  @Nullable Thread waitsForEver() {
    return maxWait.compareTo(WITHOUT_LIMIT) >= 0 ? thread : null;
  }

  /** The thread that waits, or null if a future does. */
  @Nullable Thread thread() {
    return thread;
  }

  /** Makes its handle of a hold. */
  Handle handleOn(CallerHold callerHold) {
    return handles.apply(callerHold);
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

  /** Reports that it has to wait. */
  void waits() {
    if (watched != null) {
      watched.waiting();
    }
  }

  /** Reports that its caller gets an error, before it has entered a queue. */
  void failed(Throwable cause, Engine engine) {
    if (watched != null && !(outcome instanceof Handle)) {
      watched.settled(new Failure(cause), engine.time.nanos());
    }
  }

  /** Reports that it found the lock held. */
  void contended() {
    if (watched != null) {
      watched.contended();
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
   * Tells a settled waiter; called once. A future is completed on another thread: what depends on
   * it may be slow, and may acquire the next lock.
   */
  void wake(Engine engine) {
    if (watched != null && !(outcome instanceof Handle)) {
      watched.settled(outcome, engine.time.nanos());
    }
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
