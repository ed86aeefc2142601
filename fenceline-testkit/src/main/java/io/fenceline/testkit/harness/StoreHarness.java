package io.fenceline.testkit.harness;

import io.fenceline.FencelineBuilder;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;

/**
 * How the contract reaches a store: where clients connect, how long leases are, how time passes.
 *
 * <p>One is made for each test. All clients of a test connect to the same server; the server may
 * outlive the test, because every test uses names of its own.
 */
public interface StoreHarness extends AutoCloseable {

  /** Returns where all clients of a test connect. */
  StoreFactory store();

  /**
   * Returns the lease that the tests use: at least the shortest that the store can keep, and long
   * enough that a busy machine renews it in time. Tests wait for its end, so on a real server it is
   * short.
   */
  Duration lease();

  /** Sets what clients of this store need beside the store, such as their time. */
  default void prepare(FencelineBuilder client) {}

  /**
   * Returns whether time passes by itself, too, so that a machine that is too busy can end a lease.
   */
  default boolean passesByItself() {
    return true;
  }

  /** Lets time pass, for clients and server alike. */
  void elapse(Duration duration);

  /**
   * Waits for something that others do by themselves, with a generous bound.
   *
   * @param what completes "waited for …" in the message of the error
   */
  void await(String what, Callable<Boolean> condition);

  /** Ends what belongs to this test only. */
  @Override
  default void close() {}

  /**
   * For a store that takes its time from its clients: time passes only when a test says so.
   *
   * @param store makes an empty store by that time
   */
  static StoreHarness onManualTime(Function<ManualTime, StoreFactory> store) {
    return onManualTime(store, Duration.ofSeconds(20));
  }

  /**
   * As {@link #onManualTime(Function)}, for a store that may be broken.
   *
   * @param bound how long, in real time, to wait for a thread
   */
  static StoreHarness onManualTime(Function<ManualTime, StoreFactory> store, Duration bound) {
    return new ManualHarness(store, bound);
  }

  /**
   * For a real server: time passes by itself, and {@link #elapse} waits.
   *
   * @param lease see {@link #lease()}
   */
  static StoreHarness onRealTime(StoreFactory store, Duration lease) {
    return new RealTimeHarness(store, lease);
  }
}
