package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.time.Moment;
import org.jspecify.annotations.Nullable;

/**
 * What a claim was granted, since when, and whether it still has it; state is guarded by the
 * claim's monitor.
 */
final class Possession {
  private final Claim claim;
  private final OwnNode node;
  private final ClaimRequest request;
  private final ZooKeeperLockStore store;

  // Guarded by the claim.
  private @Nullable Session session;
  private @Nullable String path;
  private @Nullable Moment granted;
  private long number;
  private long seenNanos;
  private int telling; // How many are telling the handler of the grant right now.
  private boolean told;
  private boolean goneMeanwhile;

  Possession(Claim claim, OwnNode node, ClaimRequest request, ZooKeeperLockStore store) {
    this.claim = claim;
    this.node = node;
    this.request = request;
    this.store = store;
  }

  /**
   * It has the name; called under the claim's monitor.
   *
   * @param own the node, and the transaction that made it
   * @param from when the lease begins: not after the sending of the request that has told so; an
   *     event tells it by itself (null), and a node is kept for as long as its session lives
   */
  void begin(@Nullable Session on, @Nullable String own, long czxid, @Nullable Moment from) {
    session = on;
    path = own;
    number = czxid;
    told = false;
    seenNanos = store.context.time().nanos();
    granted = from == null ? store.context.time().now() : from;
  }

  /** A repeat starts the lease again. */
  void tellAgain() {
    synchronized (claim) {
      granted = store.context.time().now();
    }
    tell();
  }

  /**
   * Tells the claim's handler, as soon as enough is proven of the session. If the grant is gone by
   * then, the handler has been told that instead.
   */
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
          on, store.leastNanos(on, request.lease()), () -> tellNow(on, from, given));
    }
  }

  private void tellNow(Session on, Moment from, long given) {
    synchronized (claim) {
      if (!isOn(on) || number != given) {
        return;
      }
      telling++;
    }
    boolean isGone;
    try {
      claim.handler().granted(new Grant(given, on.validity(from, request.lease())));
    } finally {
      synchronized (claim) {
        telling--;
        told = true;
        isGone = goneMeanwhile && telling == 0;
        goneMeanwhile &= !isGone;
      }
    }
    if (isGone) {
      claim.handler().gone();
    }
  }

  // Whether it is still there. ------------------------------------------------------------------

  boolean isOn(Session on) {
    synchronized (claim) {
      return claim.is(Claim.State.GRANTED) && session == on && !on.hasEnded();
    }
  }

  /** The node to ask for; null if nothing is granted, or not on that session. */
  RollCall.@Nullable Entry entryOn(Session on) {
    synchronized (claim) {
      return path != null && isOn(on) ? new RollCall.Entry(path, number) : null;
    }
  }

  /** The name of the node, if a listing of that time must show it; null if it need not. */
  @Nullable String nodeSeenBefore(long nanos) {
    synchronized (claim) {
      return path != null && seenNanos - nanos < 0 ? node.node(path) : null;
    }
  }

  /** The node is not there any more, and the holder has not asked. */
  void gone() {
    boolean isUntold;
    synchronized (claim) {
      if (!claim.vanish()) {
        return;
      }
      goneMeanwhile = telling > 0;
      if (goneMeanwhile) {
        return; // Whoever tells of the grant says so next.
      }
      isUntold = !told;
    }
    if (isUntold) {
      claim
          .handler()
          .failed(claim.unavailable("The node of a claim was removed before it was granted"));
    } else {
      claim.handler().gone();
    }
  }

  /** The store is closed: a grant that the handler does not know of will not be told. */
  void closed() {
    boolean isUntold;
    synchronized (claim) {
      isUntold = claim.is(Claim.State.GRANTED) && telling == 0 && !told;
    }
    if (isUntold) {
      claim.handler().failed(claim.unavailable("The store was closed"));
    }
  }
}
