package io.fenceline.testbed.pause;

import io.fenceline.Hold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.harness.StoreHarness;
import io.fenceline.testkit.scenario.Scenario;
import io.fenceline.testkit.scenario.StallDetector;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Tests that fail for two reasons; run by {@link StartAgainAfterStallTest} only. */
class StallingContract {

  static final AtomicInteger STALLED_RUNS = new AtomicInteger();
  static final AtomicInteger WRONG_RUNS = new AtomicInteger();

  private static StoreHarness onRealTime() {
    return StoreHarness.onRealTime(
        MemorySpace.create(System::currentTimeMillis).factory(), Duration.ofSeconds(1));
  }

  @Nested
  class Stalling extends Scenario {
    Stalling() {
      super(StallingContract::onRealTime);
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
