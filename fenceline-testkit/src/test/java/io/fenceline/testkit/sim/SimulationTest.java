package io.fenceline.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.fenceline.runtime.Insight;
import io.fenceline.testkit.log.TestLogProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * The runtime under many bad days. One seed alone, with its timeline: {@code -Dfenceline.seed=N};
 * more seeds: {@code -Dfenceline.simulation.seeds=N}.
 */
class SimulationTest {
  private static final long SEEDS = Long.getLong("fenceline.simulation.seeds", 10_000);
  private static final int THREADS = 2;

  /** With the twenty thousand seeds of every build, each kind happens a thousand times. */
  private static final long SEEDS_PER_OCCURRENCE = 20;

  private static final int SHOWN_FAILURES = 3;

  private final Simulation simulation = new Simulation(Insight::leftovers, TestLogProvider::onLine);

  @Test
  void whateverFails_whatMustAlwaysHoldHolds() throws InterruptedException {
    Long only = Long.getLong("fenceline.seed");
    if (only != null) {
      System.out.println(simulation.tell(only));
      assertThat(simulation.play(only).violation()).isEmpty();
      return;
    }
    Tally tally = new Tally();
    List<Long> failing = play(SEEDS, tally);
    System.out.printf("%n%,d seeds contained:%n%s%n", SEEDS, tally);
    if (!failing.isEmpty()) {
      StringBuilder text = new StringBuilder();
      failing.stream().limit(SHOWN_FAILURES).forEach(s -> text.append(simulation.tell(s)));
      fail(failing.size() + " of " + SEEDS + " seeds failed: " + failing + "\n" + text);
    }
    Set<Count> rare = tally.below(SEEDS / SEEDS_PER_OCCURRENCE);
    assertThat(rare).as("what hardly happened, so that nothing is shown of it").isEmpty();
  }

  /** Each seed is a world of its own, so they can run beside each other. */
  private List<Long> play(long seeds, Tally tally) throws InterruptedException {
    AtomicLong next = new AtomicLong(1);
    ConcurrentLinkedQueue<Long> failing = new ConcurrentLinkedQueue<>();
    AtomicReference<Throwable> broken = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                long seed;
                while ((seed = next.getAndIncrement()) <= seeds && broken.get() == null) {
                  Simulation.Outcome outcome = simulation.play(seed);
                  tally.add(outcome.tally());
                  if (outcome.violation().isPresent()) {
                    failing.add(seed);
                  }
                }
              },
              "simulation-" + i);
      thread.setUncaughtExceptionHandler((where, failure) -> broken.set(failure));
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(broken.get()).as("what broke the simulator itself").isNull();
    List<Long> found = new ArrayList<>(failing);
    Collections.sort(found);
    return found;
  }

  @Test
  void aSeed_isTheSameEveryTime() {
    for (long seed = 1; seed <= 200; seed++) {
      Simulation.Outcome first = simulation.play(seed);
      Simulation.Outcome second = simulation.play(seed);

      assertThat(second.hash()).as("seed %d", seed).isEqualTo(first.hash());
      assertThat(second.tally().toString()).isEqualTo(first.tally().toString());
    }
  }

  @Test
  void aSeed_isToldAsATimeline() {
    String told = simulation.tell(1);

    assertThat(told)
        .contains("Seed 1: no violation", "Timeline:", "CLAIM", "-Dfenceline.seed=1")
        .isEqualTo(new Simulation(Insight::leftovers, TestLogProvider::onLine).tell(1));
  }

  @Test
  void aFailingSeed_isShrunkToWhatItNeeds() {
    // A client that is said to have something left fails at the end, whatever the script says.
    Simulation failing = new Simulation(client -> 1);

    assertThat(failing.play(3).invariant()).isEqualTo(Optional.of(Invariant.I7));
    assertThat(failing.tell(3)).contains("I7: m0 still has 1 holds or names", "to 0 steps");
  }
}
