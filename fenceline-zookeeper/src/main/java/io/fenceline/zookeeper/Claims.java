package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All that this store has in ZooKeeper, or may have: a claim is here before its node is asked for,
 * and until it is known that there is no node.
 */
final class Claims {
  private final ConcurrentHashMap<String, Claim> byTag = new ConcurrentHashMap<>();

  @Nullable Claim find(ClaimRequest request) {
    return byTag.get(Place.tagOf(request.owner()));
  }

  @Nullable Claim find(String tag) {
    return byTag.get(tag);
  }

  void add(Claim claim) {
    byTag.put(claim.tag(), claim);
  }

  void remove(Claim claim) {
    byTag.remove(claim.tag(), claim);
  }

  Collection<Claim> all() {
    return byTag.values();
  }

  boolean isEmpty() {
    return byTag.isEmpty();
  }

  int size() {
    return byTag.size();
  }
}
