package io.fenceline.redis.redlock;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.redis.layout.Layout;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The claims of a Redlock that are under way or wait, what they share, and the messages for them.
 */
final class RedlockClaims {
  private static final byte[] NO_CHANNEL = new byte[0];

  final Nodes nodes;
  final OwnPermits holds;
  private final byte[] client;
  private final String channel;
  private final AtomicLongArray seen = new AtomicLongArray(Layout.BUCKETS);
  private final Map<Owner, RedlockClaim> byOwner = new ConcurrentHashMap<>();

  /** Numbers the attempts of all claims, so that those of each owner rise. */
  private final AtomicLong attempts = new AtomicLong();

  RedlockClaims(Nodes nodes, OwnPermits holds, byte[] client, String channel) {
    this.nodes = nodes;
    this.holds = holds;
    this.client = client;
    this.channel = channel;
  }

  void start(ClaimRequest request, ClaimHandler handler) {
    RedlockClaim claim = new RedlockClaim(request, handler, this);
    RedlockClaim before = byOwner.put(request.owner(), claim);
    if (before == null) {
      claim.ask();
    } else { // A repeat: one attempt of an owner at a time.
      before.stop();
      before.attempt().thenRun(claim::ask);
    }
  }

  /** One more attempt of a claim. */
  Ballot ballot(ClaimRequest claim, PermitSlots slots) {
    RedlockRequest request = RedlockRequest.of(claim, slots, attempts.incrementAndGet());
    return new Ballot(
        nodes, request, seen, client, claim.waits() ? bytes(channel) : NO_CHANNEL, holds);
  }

  /** Someone waits: makes sure that messages come. */
  void listen() {
    for (Node node : nodes.all) {
      node.server().subscriber().listen(channel, false).exceptionally(failure -> null);
    }
  }

  /** A node tells that a name got free. */
  void told(int node, String name) {
    for (RedlockClaim claim : byOwner.values()) {
      if (claim.request().name().equals(name)) {
        claim.hint(node);
      }
    }
  }

  /** A claim is withdrawn. */
  void stop(Owner owner) {
    RedlockClaim claim = byOwner.get(owner);
    if (claim != null) {
      claim.stop();
    }
  }

  void remove(RedlockClaim claim) {
    byOwner.remove(claim.request().owner(), claim);
  }

  /** Fails all that are left. */
  void close(RuntimeException cause) {
    for (RedlockClaim claim : List.copyOf(byOwner.values())) {
      claim.fail(cause);
    }
  }
}
