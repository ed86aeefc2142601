package io.fenceline.runtime;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import org.jspecify.annotations.Nullable;

/**
 * A claim that was sent to the store for a queue, and what has been heard of it.
 *
 * <p>Its request may be sent again, by the same owner, for as long as it is the queue's claim; once
 * the queue has dropped it, its owner is dead, and a grant that still comes is undone.
 */
final class RemoteClaim implements ClaimHandler {
  final ClaimRequest request;
  final Terms terms;
  private final ClaimQueue queue;
  private final Engine engine;
  private int failures;
  private volatile @Nullable Obstacle obstacle;
  private volatile @Nullable RuntimeException lastFailure;
  private volatile long takenNumber;

  RemoteClaim(ClaimQueue queue, Engine engine, String name, Waiter waiter) {
    this.queue = queue;
    this.engine = engine;
    this.terms = waiter.terms;
    this.request =
        new ClaimRequest(
            name,
            engine.newOwner(),
            terms.mode(),
            terms.lease(),
            terms.delay(),
            waiter.queues,
            !terms.autoRenewal());
  }

  boolean serves(Waiter waiter) {
    return waiter.queues == request.waits() && waiter.terms.match(terms);
  }

  void send() {
    try {
      engine.store.claim(request, this);
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  /** Its grant has become a tenure. */
  void taken(long number) {
    takenNumber = number;
  }

  /**
   * Whether the store has to be cleaned of what an answer, that nobody wants any more, speaks of.
   *
   * <p>If the claim never became a tenure, always. If it did, the answer may be an old one about
   * the very grant that was held; with a lock-delay nothing may be sent about that one after its
   * lease, since the name would open before the delay is over. A new number is a new grant: the
   * claim was overtaken by its own release.
   */
  boolean mustUndo(long number) {
    return takenNumber == 0 || terms.delay().isZero() || (number != 0 && number != takenNumber);
  }

  /** Who stands in the way, once the store has said so. */
  @Nullable Obstacle obstacle() {
    return obstacle;
  }

  /** Why the store is not heard of; null while it answers. */
  @Nullable RuntimeException lastFailure() {
    return lastFailure;
  }

  /** How long to wait before the next sending: doubling, with jitter, from 50 ms to 1 s. */
  long backoffNanos() {
    failures++;
    long base = 50_000_000L << Math.min(failures - 1, 4);
    return base + (long) (engine.random.nextDouble() * base / 4);
  }

  @Override
  public void granted(Grant grant) {
    queue.granted(this, grant);
  }

  @Override
  public void waiting(Obstacle found) {
    boolean first = obstacle == null;
    obstacle = found;
    lastFailure = null;
    queue.contended(this, found, first);
  }

  @Override
  public void refused(Obstacle found) {
    obstacle = found;
    queue.refused(this, found);
  }

  @Override
  public void failed(RuntimeException cause) {
    lastFailure = cause;
    queue.failed(this, cause);
  }

  @Override
  public void gone() {
    queue.gone(this);
  }
}
