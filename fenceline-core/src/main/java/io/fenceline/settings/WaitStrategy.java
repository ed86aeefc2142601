package io.fenceline.settings;

import java.time.Duration;

/** What an acquire does while another one holds the lock. */
public sealed interface WaitStrategy {

  /** Waits in the queue, in order, where the store has one; the default. */
  WaitStrategy FAIR_QUEUE = new FairQueue();

  /**
   * Asks again a number of times, and never queues.
   *
   * @param times how often it asks again after the first refusal
   * @param delay how long it waits before it does
   * @param jitter how much is added to each delay at most, at random
   */
  static WaitStrategy retry(int times, Duration delay, Duration jitter) {
    return new Retry(times, delay, jitter);
  }

  /** Asks again as fast as sensible, and never queues: for very short holds. */
  static WaitStrategy spin() {
    return new Retry(Integer.MAX_VALUE, Duration.ofMillis(1), Duration.ofMillis(1));
  }

  /** See {@link #FAIR_QUEUE}. */
  record FairQueue() implements WaitStrategy {}

  /**
   * See {@link #retry}.
   *
   * @param times how often it asks again after the first refusal
   * @param delay how long it waits before it does
   * @param jitter how much is added to each delay at most, at random
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
