package io.fenceline.runtime;

import io.fenceline.StoreUnavailableException;
import io.fenceline.settings.WaitStrategy;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** When to ask again, and for how long, where a caller does not queue. */
final class Retries {
  private final Engine engine;
  private final WaitStrategy.Retry strategy;
  private final Duration maxWait;
  private final long startNanos;
  private final @Nullable AcquireObservation watched;
  private int refusals;
  private @Nullable StoreUnavailableException silence;

  Retries(
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

  /** What is noted of all the tries together; null if nothing is. */
  @Nullable AcquireObservation watched() {
    return watched;
  }

  /** There is a pause before the next try. */
  void waits() {
    if (watched != null) {
      watched.waiting();
    }
  }

  /** The caller gets this error instead of a hold. */
  void failed(Throwable error) {
    if (watched != null) {
      watched.failed(error, engine.time.nanos());
      watched.callerReturns();
    }
  }

  private long leftNanos() {
    return maxWait.toNanos() - (engine.time.nanos() - startNanos);
  }

  /** How long one try may take: not beyond the end, unless it is the only one. */
  Duration limitOfTry() {
    long most = engine.operationNanos();
    return Duration.ofNanos(maxWait.isZero() ? most : Math.max(1, Math.min(most, leftNanos())));
  }

  /** A try was refused: the name is taken. */
  void refused() {
    refusals++;
    silence = null;
  }

  /**
   * A try was not answered; a store is asked again until the time is over. The last try may have
   * had too little time to say anything of the store.
   */
  void notAnswered(StoreUnavailableException failure) {
    if (leftNanos() > 0 || refusals == 0) {
      silence = failure;
    }
  }

  /** Why the store is not heard of; null if it is. */
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
