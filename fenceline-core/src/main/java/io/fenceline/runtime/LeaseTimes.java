package io.fenceline.runtime;

import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import java.time.Duration;

/**
 * How long a grant may be believed, by both local clocks.
 *
 * <p>The monotonic deadline is a margin earlier than the store's, because two clocks never run
 * quite alike. The wall clock has no margin: it is there for the machine that slept.
 */
record LeaseTimes(Moment from, Duration length, long deadlineNanos, long deadlineWallMillis) {
  private static final long MARGIN_NANOS = 2_000_000;
  private static final int MARGIN_SHARE = 100;

  static LeaseTimes of(Validity validity) {
    long length = validity.length().toNanos();
    return new LeaseTimes(
        validity.from(),
        validity.length(),
        validity.from().nanos() + length - margin(length),
        validity.from().wallMillis() + length / 1_000_000);
  }

  private static long margin(long lengthNanos) {
    return Math.min(lengthNanos / 2, lengthNanos / MARGIN_SHARE + MARGIN_NANOS);
  }

  boolean runsAt(Moment now) {
    return deadlineNanos - now.nanos() > 0 && deadlineWallMillis - now.wallMillis() > 0;
  }

  long remainingNanos(Moment now) {
    long wall = (deadlineWallMillis - now.wallMillis()) * 1_000_000;
    return Math.max(0, Math.min(deadlineNanos - now.nanos(), wall));
  }

  /** Whether at least half of it is left. */
  boolean isFreshAt(Moment now) {
    return remainingNanos(now) >= length.toNanos() / 2;
  }

  boolean endsAfter(LeaseTimes other) {
    return deadlineNanos - other.deadlineNanos > 0;
  }

  /**
   * This lease, or the part of it that another one allows too: by each clock the earlier end, since
   * after a sleep the clocks may not agree on which of the two is shorter.
   */
  LeaseTimes cutTo(LeaseTimes shorter) {
    return endsAfter(shorter)
        ? new LeaseTimes(
            shorter.from,
            shorter.length,
            shorter.deadlineNanos,
            Math.min(deadlineWallMillis, shorter.deadlineWallMillis))
        : this;
  }

  /** When a renewal is due: after a third of the lease. */
  long renewalNanos() {
    return from.nanos() + length.toNanos() / 3;
  }
}
