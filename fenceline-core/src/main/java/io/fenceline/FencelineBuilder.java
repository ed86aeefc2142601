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

  /** Sets the store by its URI. */
  FencelineBuilder store(String uri);

  /** Sets a store that its module has created from a driver of yours. */
  FencelineBuilder store(Store store);

  /** Sets the name of this client in inspection and errors; host and process id by default. */
  FencelineBuilder label(String label);

  /** Sets the options of locks that are created without options. */
  FencelineBuilder defaultOptions(LockOptions options);

  /** Sets how long connecting may take; 5 seconds by default. */
  FencelineBuilder connectTimeout(Duration timeout);

  /** Sets how long a request to the store may take; 3 seconds by default. */
  FencelineBuilder operationTimeout(Duration timeout);

  /** Requires guarantees: connecting fails unless the store gives all of them. */
  FencelineBuilder require(Guarantee... guarantees);

  /** Sets the maximum numbers of waiters, holds and pending undos. */
  FencelineBuilder limits(Limits limits);

  /**
   * Sets how often, and for how long, a lock may be handed from thread to thread of this process
   * before other processes get their turn.
   */
  FencelineBuilder handOff(HandOff handOff);

  /**
   * Sets a number that is added to every grant number, for a ZooKeeper or etcd whose numbers start
   * again because it was wiped or restored: the largest token that a fence has accepted, shifted
   * right by 8, plus one. All clients of a name must use the same value.
   */
  FencelineBuilder tokenBase(long base);

  /** Adds a listener for all events of the locks of this client. */
  FencelineBuilder listener(LockListener listener);

  /**
   * Adds an observer for meters and traces. It is called on the thread on which something happens,
   * so that its figures are exact.
   */
  FencelineBuilder observer(ObserverFactory observer);

  /**
   * Sets the executor that runs listeners, callbacks of futures and requests of blocking stores,
   * such as one with virtual threads or the pool of a container. Without one, the client uses up to
   * some hundred threads of its own.
   *
   * <p>Renewals and timers keep two threads of their own, so that no hold is lost because the
   * executor is busy. A task that the executor rejects runs on a thread of the client. The client
   * does not shut the executor down.
   */
  FencelineBuilder executor(Executor executor);

  /** Sets clocks, timers and threads other than those of the machine; for tests. */
  FencelineBuilder time(Time time);

  /** Sets a source of randomness other than {@link java.security.SecureRandom}; for tests. */
  FencelineBuilder random(RandomGenerator random);

  /**
   * Connects.
   *
   * @throws StoreUnavailableException if the store can't be reached within the connect timeout
   * @throws StoreRefusedException if the store refuses this client
   * @throws InvalidSettingException if the store lacks a required guarantee
   */
  @MustBeClosed
  Fenceline connect();
}
