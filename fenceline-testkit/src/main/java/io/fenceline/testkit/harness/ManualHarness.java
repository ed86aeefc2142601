package io.fenceline.testkit.harness;

import io.fenceline.FencelineBuilder;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** A store whose time the test owns. */
final class ManualHarness implements StoreHarness {
  private final ManualTime time = new ManualTime();
  private final StoreFactory store;
  private final Duration bound;

  /**
   * A harness of its own time.
   *
   * @param bound how long, in real time, to wait for a thread
   */
  ManualHarness(Function<ManualTime, StoreFactory> store, Duration bound) {
    this.store = store.apply(time);
    this.bound = bound;
  }

  @Override
  public StoreFactory store() {
    return store;
  }

  @Override
  public Duration lease() {
    return Duration.ofSeconds(30);
  }

  @Override
  public void prepare(FencelineBuilder client) {
    client.time(time);
  }

  @Override
  public boolean passesByItself() {
    return false;
  }

  @Override
  public void elapse(Duration duration) {
    time.advance(duration);
  }

  /** Only threads are waited for here: each look wakes those that wait for time to have passed. */
  @Override
  public void await(String what, Callable<Boolean> condition) {
    Eventually.until(
        bound,
        what,
        () -> {
          time.advance(Duration.ZERO);
          return condition.call();
        });
  }
}
