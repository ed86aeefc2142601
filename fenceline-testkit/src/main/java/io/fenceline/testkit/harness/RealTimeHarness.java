package io.fenceline.testkit.harness;

import io.fenceline.FencelineBuilder;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.concurrent.Callable;

/** A store on a real server, where waiting is all that lets time pass. */
final class RealTimeHarness implements StoreHarness {
  private static final Duration BOUND = Duration.ofSeconds(30);

  /** One for all suites of this JVM: they share its processors. */
  private static final StartGate GATE = new StartGate();

  private final StoreFactory store;
  private final Duration lease;

  RealTimeHarness(StoreFactory store, Duration lease) {
    this.store = store;
    this.lease = lease;
    GATE.begin();
  }

  @Override
  public StoreFactory store() {
    return store;
  }

  @Override
  public Duration lease() {
    return lease;
  }

  /** How fast one connects is not what the contract is about. */
  @Override
  public void prepare(FencelineBuilder client) {
    client.connectTimeout(BOUND);
  }

  @Override
  public void elapse(Duration duration) {
    long start = System.nanoTime();
    GATE.leave();
    try {
      Eventually.until(
          duration.plus(BOUND),
          duration + " to pass",
          () -> System.nanoTime() - start >= duration.toNanos());
    } finally {
      GATE.goOn();
    }
  }

  @Override
  public void await(String what, Callable<Boolean> condition) {
    Eventually.until(BOUND.plus(lease.multipliedBy(4)), what, condition);
  }

  @Override
  public void close() {
    GATE.leave();
  }
}
