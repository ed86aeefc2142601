package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
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
  /** What a try is settled with when the name is not free. */
  record Refusal(Obstacle obstacle) {}

  /** What a caller that was cancelled or interrupted is settled with. */
  static final Object GONE = new Object();

  final Terms terms;
  final LockOptions options;

  /** Whether it queues; otherwise it asks once. */
  final boolean queues;

  final Duration maxWait;
  final Moment since;

  /** The thread that waits, or null if a future does. */
  final @Nullable Thread thread;

  private final Function<Stay, Handle> handles;
  private final Runnable whenSettled;
  private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();
  private final AtomicBoolean told = new AtomicBoolean();
  private volatile @Nullable Predicate<Object> taker;
  private volatile Time.@Nullable Timer timer;

  Waiter(
      Terms terms,
      LockOptions options,
      boolean queues,
      Duration maxWait,
      Moment since,
      @Nullable Thread thread,
      Function<Stay, Handle> handles,
      Runnable whenSettled) {
    this.terms = terms;
    this.options = options;
    this.queues = queues;
    this.maxWait = maxWait;
    this.since = since;
    this.thread = thread;
    this.handles = handles;
    this.whenSettled = whenSettled;
  }

  /**
   * Gives it the stay, unless it is settled; {@link #wake} tells it.
   *
   * @return whether it took it
   */
  boolean accept(Stay stay) {
    return outcome.compareAndSet(null, stay.open(handles));
  }

  /** Settles it with an exception, a {@link Refusal} or {@link #GONE}, unless it is settled. */
  boolean settle(Object with) {
    return outcome.compareAndSet(null, with);
  }

  /** What it is settled with, or null. */
  @Nullable Object outcome() {
    return outcome.get();
  }

  boolean isSettled() {
    return outcome.get() != null;
  }

  /**
   * Says who takes the outcome, for a caller that has no thread here.
   *
   * @param taker answers whether it was taken; called once, here if the outcome is there already
   */
  void takenBy(Predicate<Object> taker) {
    this.taker = taker;
    tell();
  }

  /** It was turned away before it was in any queue. */
  void neverEntered() {
    whenSettled.run();
  }

  /** The timer that makes it give up; cancelled when it is settled. */
  void timedBy(Time.Timer timer) {
    this.timer = timer;
    if (isSettled()) {
      timer.cancel();
    }
  }

  /**
   * Tells a settled waiter; called once. A future is completed on a thread for callbacks: what
   * depends on it may be slow, and may come back for the next lock.
   */
  void wake(Engine engine) {
    whenSettled.run();
    Time.Timer set = timer;
    if (set != null) {
      set.cancel();
    }
    if (thread != null) {
      LockSupport.unpark(thread);
    } else if (taker != null) {
      engine.callback(this::tell);
    }
  }

  private void tell() {
    Object settled = outcome.get();
    Predicate<Object> to = taker;
    if (settled == null || to == null || !told.compareAndSet(false, true)) {
      return;
    }
    if (!to.test(settled) && settled instanceof Handle handle) {
      handle.abandon(); // Cancelled at the very moment that it was granted.
    }
  }
}
