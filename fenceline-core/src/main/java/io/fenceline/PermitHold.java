package io.fenceline;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/**
 * Some permits of a semaphore.
 *
 * <p>Its token is unique and rises, but several holders are valid at once, so permits can't be
 * fenced: there is no {@link FencingToken} here.
 */
public interface PermitHold extends Held {

  /** Returns the name of the semaphore. */
  String name();

  /** Returns how many permits are held. */
  int permits();

  /**
   * Returns a number that is unique and larger than that of every earlier hold of the semaphore;
   * not for fences.
   */
  long token();

  /**
   * Returns the public name of this hold: the same in logs, events and inspection. Not a secret.
   */
  String id();

  /** Returns when it was acquired, by the wall clock. */
  Instant acquiredAt();

  /** Returns the length of the lease. */
  Duration lease();

  /** See {@link Hold#extend}. */
  void extend(Duration lease) throws InterruptedException;

  /** See {@link Hold#extendAsync}. */
  CompletableFuture<Void> extendAsync(Duration lease);
}
