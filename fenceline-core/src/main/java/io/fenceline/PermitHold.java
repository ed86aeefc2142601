package io.fenceline;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/**
 * Some permits of a semaphore.
 *
 * <p>Its token is unique and rises, but several holders are valid at once, so no order can fence
 * them: there is no {@link FencingToken} here.
 */
public interface PermitHold extends Held {

  /** The semaphore. */
  String name();

  /** How many permits are held. */
  int permits();

  /** Unique, and larger than that of every earlier hold of the semaphore; not for fences. */
  long token();

  /** The public name of this hold: the same in logs, events and inspection. Not a secret. */
  String id();

  /** When it was acquired, by the wall clock. */
  Instant acquiredAt();

  /** How long the lease is. */
  Duration lease();

  /** See {@link Hold#extend}. */
  void extend(Duration lease) throws InterruptedException;

  /** See {@link Hold#extendAsync}. */
  CompletableFuture<Void> extendAsync(Duration lease);
}
