package io.fenceline.bench.work;

import io.fenceline.FencedLock;
import io.fenceline.Hold;
import java.time.Duration;

/** Cycles of one thread on one name, beside whatever else is in the store. */
final class SoloCycles {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final FencedLock lock;
  private long lastToken;

  SoloCycles(FencedLock lock) {
    this.lock = lock;
  }

  /** How many cycles there were in this time. */
  long run(int millis) throws InterruptedException {
    long end = System.nanoTime() + millis * 1_000_000L;
    long cycles = 0;
    while (System.nanoTime() < end) {
      try (Hold hold = lock.acquire(LONGEST_WAIT)) {
        if (hold.token() <= lastToken) {
          throw new BrokenLockException("token " + hold.token() + " came after " + lastToken);
        }
        lastToken = hold.token();
      }
      cycles++;
    }
    return cycles;
  }

  /** Cycles a second, by the clock. */
  double perSecond(int millis) throws InterruptedException {
    long start = System.nanoTime();
    long cycles = run(millis);
    return cycles / ((System.nanoTime() - start) / 1e9);
  }
}
