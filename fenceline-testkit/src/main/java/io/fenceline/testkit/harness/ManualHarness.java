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
  /** Less than a client may stand still for and keep what it has. */
  private static final Duration STEP = Duration.ofMillis(500);

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

  /**
   * In steps, none of which begins while another thread is at work for a client: a leap of a minute
   * would make that client one that stood still for so long, which rightly loses its place.
   */
  @Override
  public void elapse(Duration duration) {
    Duration left = duration;
    while (left.compareTo(STEP) > 0) {
      step(STEP);
      left = left.minus(STEP);
    }
    step(left);
  }

  private void step(Duration duration) {
    time.awaitWork();
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
