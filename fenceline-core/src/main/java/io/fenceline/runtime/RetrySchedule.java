package io.fenceline.runtime;

import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.WaitStrategy;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** When a caller that does not queue tries again, and until when. */
final class RetrySchedule {
  private final Engine engine;
  private final WaitStrategy.Retry strategy;
  private final Duration maxWait;
  private final long startNanos;
  private final @Nullable AcquireObservation watched;
  private int refusals;
  private @Nullable StoreUnavailableException silence;

  RetrySchedule(
      Engine engine,
      WaitStrategy.Retry strategy,
      Duration maxWait,
      @Nullable AcquireObservation watched) {
    this.engine = engine;
    this.strategy = strategy;
    this.maxWait = maxWait;
    this.watched = watched;
    this.startNanos = engine.time.nanos();
  }

  Duration maxWait() {
    return maxWait;
  }

  long startNanos() {
    return startNanos;
  }

  /** The report of all tries together; null if nobody asks for it. */
  @Nullable AcquireObservation watched() {
    return watched;
  }

  /** Reports that there is a pause before the next try. */
  void waits() {
    if (watched != null) {
      watched.waiting();
    }
  }

  /** Reports that the caller gets this error instead of a hold. */
  void failed(Throwable error) {
    if (watched != null) {
      watched.failed(error, engine.time.nanos());
      watched.callerReturns();
    }
  }

  private long leftNanos() {
    return maxWait.toNanos() - (engine.time.nanos() - startNanos);
  }

  /** How long one try may take: not beyond the end, unless it is the only try. */
  Duration limitOfTry() {
    long most = engine.operationNanos;
    return Duration.ofNanos(maxWait.isZero() ? most : Math.max(1, Math.min(most, leftNanos())));
  }

  /** Notes a refused try: the name is taken. */
  void refused() {
    refusals++;
    silence = null;
  }

  /**
   * Notes a try that was not answered; the next try asks again, until the time is over. A last try
   * that had no time left says nothing about the store.
   */
  void notAnswered(StoreUnavailableException failure) {
    if (leftNanos() > 0 || refusals == 0) {
      silence = failure;
    }
  }

  /** Why the last try was not answered; null if it was. */
  @Nullable StoreUnavailableException silence() {
    return silence;
  }

  /** The pause before the next try; empty if there is none. */
  OptionalLong next() {
    double jitter = engine.random.nextDouble() * strategy.jitter().toNanos();
    long delay = strategy.delay().toNanos() + (long) jitter;
    return refusals > strategy.times() || delay >= leftNanos()
        ? OptionalLong.empty()
        : OptionalLong.of(delay);
  }
}
