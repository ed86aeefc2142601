package io.fenceline.settings;

import java.time.Duration;

/** How an acquire waits while the lock is held. */
public sealed interface WaitStrategy {

  /** Waits in the fair queue of the store, if it has one; the default. */
  WaitStrategy FAIR_QUEUE = new FairQueue();

  /**
   * Retries a number of times, without queueing.
   *
   * @param times the number of retries after the first refusal
   * @param delay the delay before each retry
   * @param jitter the maximum that is added to each delay, at random
   */
  static WaitStrategy retry(int times, Duration delay, Duration jitter) {
    return new Retry(times, delay, jitter);
  }

  /** Retries as fast as is sensible, without queueing; for very short holds. */
  static WaitStrategy spin() {
    return new Retry(Integer.MAX_VALUE, Duration.ofMillis(1), Duration.ofMillis(1));
  }

  /** See {@link #FAIR_QUEUE}. */
  record FairQueue() implements WaitStrategy {
    @Override
    public String toString() {
      return "FAIR_QUEUE";
    }
  }

  /**
   * See {@link #retry}.
   *
   * @param times the number of retries after the first refusal
   * @param delay the delay before each retry
   * @param jitter the maximum that is added to each delay, at random
   */
  record Retry(int times, Duration delay, Duration jitter) implements WaitStrategy {
    /** Checks the figures. */
    public Retry {
      if (times < 0) {
        throw new InvalidSettingException("retry times", times, "it must not be negative");
      }
      Durations.checkPositive("retry delay", delay);
      Durations.checkNotNegative("retry jitter", jitter);
    }
  }
}
