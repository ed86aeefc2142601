package io.fenceline.spi;

import java.time.Duration;

/**
 * A request for a name, as a store gets it.
 *
 * <p>The same request may be sent more than once, when an answer did not come. If its owner has a
 * grant, the store answers with the same grant, and starts the lease again; the lease must not end
 * sooner than before, since an older request may arrive after a newer one. If its owner waits, it
 * keeps its place in the queue. An owner that was withdrawn or released is never used again.
 *
 * @param name the lock
 * @param owner unique to this acquisition
 * @param mode exclusive, shared, or permits
 * @param lease how long the holder may believe in the grant
 * @param delay how much longer the store keeps the name closed after the lease (lock-delay)
 * @param waits whether to queue when the name is not free
 * @param fixed whether the lease ends unless it is extended; a store that keeps many grants alive
 *     with one session must not put this one among them
 */
public record ClaimRequest(
    String name,
    Owner owner,
    Mode mode,
    Duration lease,
    Duration delay,
    boolean waits,
    boolean fixed) {

  /** A claim whose lease renews itself. */
  public ClaimRequest(
      String name, Owner owner, Mode mode, Duration lease, Duration delay, boolean waits) {
    this(name, owner, mode, lease, delay, waits, false);
  }

  /** Returns how long the store keeps an unrenewed grant: the lease and the delay after it. */
  public Duration term() {
    return lease.plus(delay);
  }
}
