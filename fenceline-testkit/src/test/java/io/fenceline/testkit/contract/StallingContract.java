package io.fenceline.testkit.contract;

import io.fenceline.Hold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.pause.RandomPauses;
import io.fenceline.testkit.pause.StallDetector;
import io.fenceline.testkit.server.Eventually;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests that fail for two reasons; run by {@link StartAgainAfterStallTest} only. */
class StallingContract {

  static final AtomicInteger STALLED_RUNS = new AtomicInteger();
  static final AtomicInteger WRONG_RUNS = new AtomicInteger();

  static final class OnRealTime extends LockContract {
    @Override
    protected StoreHarness harness() {
      return StoreHarness.onRealTime(
          MemorySpace.create(System::currentTimeMillis).factory(), Duration.ofSeconds(1));
    }
  }

  @Nested
  class Stalling extends Scenario {
    Stalling() {
      super(new OnRealTime());
    }

    @Test
    void leaseThatEndedInAStall() {
      int run = STALLED_RUNS.incrementAndGet();
      Hold hold = a.take(ledger, fixed());
      if (run == 1) {
        standStill(lease);
      }
      if (!hold.isValid()) {
        throw new AssertionError("not valid in run " + run);
      }
    }

    @Test
    void wrongWithoutAStall() {
      throw new AssertionError("wrong in run " + WRONG_RUNS.incrementAndGet());
    }

    private static void standStill(Duration length) {
      long start = System.nanoTime();
      try (RandomPauses pauses = RandomPauses.start(length, Duration.ofMillis(1))) {
        Eventually.until(
            Duration.ofSeconds(30),
            "the JVM to stand still",
            () -> StallDetector.ofThisJvm().longestSince(start).compareTo(length.dividedBy(2)) > 0);
      }
    }
  }
}
