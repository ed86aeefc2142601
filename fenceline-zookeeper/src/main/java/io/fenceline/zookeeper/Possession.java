package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Moment;
import org.jspecify.annotations.Nullable;

/** What a claim was granted, and since when; state is guarded by the claim's monitor. */
final class Possession {
  private final Claim claim;
  private final ClaimRequest request;
  private final ZooKeeperStore store;

  // Guarded by the claim.
  private @Nullable Session session;
  private @Nullable Moment granted;
  private long number;
  private long seenNanos;

  Possession(Claim claim, ClaimRequest request, ZooKeeperStore store) {
    this.claim = claim;
    this.request = request;
    this.store = store;
  }

  /**
   * It has the name; called under the claim's monitor.
   *
   * @param from when the lease begins: not after the sending of the request that has told so; an
   *     event tells it by itself (null), and a node is kept for as long as its session lives
   */
  void begin(@Nullable Session on, long czxid, @Nullable Moment from) {
    session = on;
    number = czxid;
    seenNanos = store.context.time().nanos();
    granted = from == null ? store.context.time().now() : from;
  }

  /** Whether a listing of that time must show the node; called under the claim's monitor. */
  boolean isOlderThan(long nanos) {
    return granted != null && seenNanos - nanos < 0;
  }

  /** A repeat starts the lease again. */
  void tellAgain() {
    synchronized (claim) {
      granted = store.context.time().now();
    }
    tell();
  }

  /** Tells the claim's handler, as soon as enough is proven of the session. */
  void tell() {
    Session on;
    Moment from;
    long given;
    synchronized (claim) {
      on = session;
      from = granted;
      given = number;
    }
    if (on != null && from != null) {
      // Less than half of what could be proven would only make the holder renew at once.
      store.heartbeat.whenProven(
          on,
          store.leastNanos(on, request.lease()),
          () -> claim.handler().granted(new Grant(given, on.validity(from, request.lease()))));
    }
  }
}
