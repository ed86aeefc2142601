package io.fenceline.zookeeper.claim;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Owner;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All that this store has in ZooKeeper, or may have: a claim is here before its node is asked for,
 * and until it is known that there is no node.
 */
public final class Claims {
  private final ConcurrentHashMap<Owner, Claim> byOwner = new ConcurrentHashMap<>();

  // What a node's name tells of its owner; a hash that is not made again for each question.
  private final Set<String> tags = ConcurrentHashMap.newKeySet();

  private final AtomicLong added = new AtomicLong();

  private volatile @Nullable Consumer<Claim> cleanup;

  public @Nullable Claim find(ClaimRequest request) {
    return byOwner.get(request.owner());
  }

  /** Returns whether a node with this tag belongs to a claim. */
  public boolean know(String tag) {
    return tags.contains(tag);
  }

  public void add(Claim claim) {
    added.incrementAndGet();
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

  public Collection<Claim> all() {
    return byOwner.values();
  }

  public boolean isEmpty() {
    return byOwner.isEmpty();
  }

  /** Returns how many there have been. */
  public long added() {
    return added.get();
  }

  public int size() {
    return byOwner.size();
  }

  // The end. ------------------------------------------------------------------------------------

  /**
   * The store is closed.
   *
   * @param lateCleanup removes the node of a claim that was sent meanwhile
   */
  public void close(Consumer<Claim> lateCleanup) {
    cleanup = lateCleanup;
  }

  public boolean areClosed() {
    return cleanup != null;
  }

  /**
   * The creation of a claim's node was sent. If the store was closed before that, so was the
   * removal of what it leaves, and the node would stay as long as the session of the application.
   */
  void removeIfClosed(Claim claim) {
    Consumer<Claim> late = cleanup;
    if (late != null) {
      claim.close();
      late.accept(claim);
    }
  }
}
