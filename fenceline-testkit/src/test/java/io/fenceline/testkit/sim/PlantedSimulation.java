package io.fenceline.testkit.sim;

import io.fenceline.runtime.Insight;
import io.fenceline.testkit.log.TestLogProvider;
import java.util.function.LongFunction;

/**
 * A simulation behind types that every class loader shares: a seed in, the broken invariant out.
 */
public final class PlantedSimulation implements LongFunction<String> {
  private final Simulation simulation = new Simulation(Insight::leftovers, TestLogProvider::onLine);

  /** For the class loader that planted something. */
  public PlantedSimulation() {}

  /** What did not hold, starting with the invariant; empty if everything did. */
  @Override
  public String apply(long seed) {
    return simulation.play(seed).violation().orElse("");
  }
}
