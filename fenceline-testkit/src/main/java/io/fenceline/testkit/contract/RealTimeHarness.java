package io.fenceline.testkit.contract;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.server.Eventually;
import java.time.Duration;
import java.util.concurrent.Callable;

/** A store on a real server, where waiting is all that lets time pass. */
final class RealTimeHarness implements StoreHarness {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final StoreFactory store;
  private final Duration lease;

  RealTimeHarness(StoreFactory store, Duration lease) {
    this.store = store;
    this.lease = lease;
  }

  @Override
  public StoreFactory store() {
    return store;
  }

  @Override
  public Duration lease() {
    return lease;
  }

  @Override
  public void elapse(Duration duration) {
    long start = System.nanoTime();
    Eventually.until(
        duration.plus(BOUND),
        duration + " to pass",
        () -> System.nanoTime() - start >= duration.toNanos());
  }

  @Override
  public void await(String what, Callable<Boolean> condition) {
    Eventually.until(BOUND.plus(lease.multipliedBy(4)), what, condition);
  }
}
