package io.fenceline;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.LockListener;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.Limits;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * The settings of a client.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store("memory:")
 *         .label("billing-1")
 *         .require(Guarantee.FAIR)
 *         .connect();
 * }</pre>
 */
public interface FencelineBuilder {

  /** Where the locks are, by URI. */
  FencelineBuilder store(String uri);

  /** Where the locks are, by a driver that you already have; the store's module makes it. */
  FencelineBuilder store(Store store);

  /** What this client calls itself in inspection and errors; host and process id by default. */
  FencelineBuilder label(String label);

  /** What locks have unless they are given options of their own. */
  FencelineBuilder defaultOptions(LockOptions options);

  /** How long connecting may take; 5 seconds by default. */
  FencelineBuilder connectTimeout(Duration timeout);

  /** How long one request to the store may go unanswered; 3 seconds by default. */
  FencelineBuilder operationTimeout(Duration timeout);

  /** Fails to connect unless the store gives all of these. */
  FencelineBuilder require(Guarantee... guarantees);

  /** How much of everything this client may have. */
  FencelineBuilder limits(Limits limits);

  /** How far a lock may pass within this process before others get their turn. */
  FencelineBuilder handOff(HandOff handOff);

  /**
   * Is added to every grant number, for a ZooKeeper or etcd that was wiped or restored and counts
   * anew: take the largest token that a fence has accepted, shifted right by 8, plus one. All
   * clients of a name must agree on it.
   */
  FencelineBuilder tokenBase(long base);

  /** Hears everything that happens to the locks of this client. */
  FencelineBuilder listener(LockListener listener);

  /**
   * Is told inline, so that its figures are exact, what the locks of this client do; for meters and
   * traces.
   */
  FencelineBuilder observer(ObserverFactory observer);

  /**
   * Runs listeners, callbacks of futures and the requests of stores that block, instead of up to
   * some hundred threads of the client's own: virtual threads, say, or a container's pool.
   *
   * <p>Renewals and timers keep their two threads, so that a busy executor costs no hold. What the
   * executor rejects runs on a thread of the client. It is not shut down with the client.
   */
  FencelineBuilder executor(Executor executor);

  /** Clocks, timers and threads other than the machine's own; for tests. */
  FencelineBuilder time(Time time);

  /** Randomness other than a {@link java.security.SecureRandom}; for tests. */
  FencelineBuilder random(RandomGenerator random);

  /**
   * Connects.
   *
   * @throws StoreUnavailableException if the store can't be reached within the connect timeout
   * @throws StoreRefusedException if it does not let this client in
   * @throws InvalidSettingException if it does not give what is required
   */
  @MustBeClosed
  Fenceline connect();
}
