package io.fenceline.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Waits for something that another process does, where no event tells of it.
 *
 * <pre>{@code
 * Eventually.until(Duration.ofSeconds(5), "the replica to be in sync", () -> replica.inSync());
 * }</pre>
 *
 * <p>A look that throws counts as "not yet"; its exception becomes the cause when time is up.
 */
public final class Eventually {

  private static final long FIRST_PAUSE_NANOS = 500_000;
  private static final long LONGEST_PAUSE_NANOS = 20_000_000;

  /** A look that costs much, such as a client that connects, is made seldom. */
  private static final int PAUSE_PER_LOOK = 4;

  private static final long LONGEST_PAUSE_FOR_LOOK_NANOS = 250_000_000;

  private Eventually() {}

  /**
   * Looks until {@code condition} is true.
   *
   * @param what completes "waited for …" in the message of the error
   * @throws AssertionError if it is not true within {@code bound}
   */
  public static void until(Duration bound, String what, Callable<Boolean> condition) {
    until(bound, what, condition, seen -> seen);
  }

  /**
   * Looks until {@code value} gives something that {@code accepted} likes, and returns it.
   *
   * @param what completes "waited for …" in the message of the error
   * @throws AssertionError if there is none within {@code bound}; it shows the value last seen
   */
  public static <T extends @Nullable Object> T until(
      Duration bound, String what, Callable<T> value, Predicate<? super T> accepted) {
    long start = System.nanoTime();
    long pauseNanos = FIRST_PAUSE_NANOS;
    int looks = 0;
    while (true) {
      Object lastSeen;
      Throwable cause = null;
      looks++;
      long lookNanos = System.nanoTime();
      try {
        T seen = value.call();
        if (accepted.test(seen)) {
          return seen;
        }
        lastSeen = seen;
      } catch (Exception | AssertionError e) {
        lastSeen = e;
        cause = e;
      }
      long elapsedNanos = System.nanoTime() - start;
      if (elapsedNanos >= bound.toNanos()) {
        throw new AssertionError(
            "Waited %s for %s, in vain (looks=%d, lastSeen=%s)"
                .formatted(bound, what, looks, lastSeen),
            cause);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new AssertionError("Interrupted while waiting for " + what, cause);
      }
      long forLookNanos = PAUSE_PER_LOOK * (start + elapsedNanos - lookNanos);
      long nextNanos = Math.max(pauseNanos, Math.min(forLookNanos, LONGEST_PAUSE_FOR_LOOK_NANOS));
      LockSupport.parkNanos(Math.min(nextNanos, bound.toNanos() - elapsedNanos));
      pauseNanos = Math.min(pauseNanos * 2, LONGEST_PAUSE_NANOS);
    }
  }
}
