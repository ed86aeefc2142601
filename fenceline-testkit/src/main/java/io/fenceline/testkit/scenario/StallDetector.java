package io.fenceline.testkit.scenario;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Notices when this JVM did not run: it was stopped, collected garbage, or got no processor.
 *
 * <p>A thread wakes every few milliseconds and measures by how much it was late. A lease can run
 * out in such a gap although the code is right. Thread-safe.
 */
public final class StallDetector {

  private static final long TICK_NANOS = 10_000_000;
  private static final long SHORTEST_STALL_NANOS = 50_000_000;
  private static final int REMEMBERED = 1_000;

  private record Stall(long endNanos, long lengthNanos) {}

  private static @Nullable StallDetector running;

  private final ArrayDeque<Stall> stalls = new ArrayDeque<>();
  private long lastTickNanos = System.nanoTime();

  private StallDetector() {}

  /** Returns the detector of this JVM; the first call starts it. */
  public static synchronized StallDetector ofThisJvm() {
    StallDetector detector = running;
    if (detector == null) {
      detector = new StallDetector();
      running = detector;
      Thread thread = new Thread(detector::run, "fenceline-testkit-stall-detector");
      thread.setDaemon(true);
      thread.start();
    }
    return detector;
  }

  private void run() {
    while (true) {
      LockSupport.parkNanos(TICK_NANOS);
      tick();
    }
  }

  private synchronized void tick() {
    long now = System.nanoTime();
    long late = now - lastTickNanos - TICK_NANOS;
    if (late >= SHORTEST_STALL_NANOS) {
      if (stalls.size() == REMEMBERED) {
        stalls.removeFirst();
      }
      stalls.addLast(new Stall(now, late));
    }
    lastTickNanos = now;
  }

  /**
   * Returns the longest time without a run of this JVM that ended after a moment; zero if there was
   * none worth mentioning.
   *
   * @param startNanos the moment, by {@link System#nanoTime}
   */
  public Duration longestSince(long startNanos) {
    tick(); // The caller may be the first that runs after a stall.
    synchronized (this) {
      long longest = 0;
      for (Stall stall : stalls) {
        if (stall.endNanos() - startNanos > 0) {
          longest = Math.max(longest, stall.lengthNanos());
        }
      }
      return Duration.ofNanos(longest);
    }
  }
}
