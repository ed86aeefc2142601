package io.fenceline.runtime;

import io.fenceline.Fenceline;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import java.util.SplittableRandom;
import org.jetbrains.lincheck.datastructures.StressOptions;

/** How the parts that real threads share are made to cross each other. */
final class Interleavings {
  private Interleavings() {}

  /** A client on time that stands still, with nothing in it that two runs could differ by. */
  @SuppressWarnings("MustBeClosedChecker") // It goes with the instance that is checked.
  static Fenceline client(ManualTime time, StoreFactory store) {
    return Fenceline.builder()
        .store(store)
        .time(time)
        .label("lincheck")
        .random(new SplittableRandom(1))
        .connect();
  }

  /**
   * Two threads, three calls each, again and again, on real threads: the model checker would go
   * through futures and maps of the JDK instruction by instruction, and not get far in a build.
   */
  static void check(Class<?> subject) {
    new StressOptions()
        .iterations(12)
        .invocationsPerIteration(60)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(0)
        .actorsAfter(1)
        .check(subject);
  }
}
