package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All that this store has in ZooKeeper, or may have: a claim is here before its node is asked for,
 * and until it is known that there is no node.
 */
final class Claims {
  private final ConcurrentHashMap<Owner, Claim> byOwner = new ConcurrentHashMap<>();

  // What a node's name tells of its owner; a hash that is not made again for each question.
  private final Set<String> tags = ConcurrentHashMap.newKeySet();

  @Nullable Claim find(ClaimRequest request) {
    return byOwner.get(request.owner());
  }

  boolean know(String tag) {
    return tags.contains(tag);
  }

  void add(Claim claim) {
    byOwner.compute(
        claim.request.owner(),
        (owner, before) -> {
          tags.add(claim.tag());
          return claim;
        });
  }

  void remove(Claim claim) {
    byOwner.computeIfPresent(
        claim.request.owner(),
        (owner, known) -> {
          if (known != claim) {
            return known;
          }
          tags.remove(claim.tag());
          return null;
        });
  }

  Collection<Claim> all() {
    return byOwner.values();
  }

  boolean isEmpty() {
    return byOwner.isEmpty();
  }

  int size() {
    return byOwner.size();
  }
}
