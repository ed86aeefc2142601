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
 * All claims of this store that have a node in ZooKeeper, or may have one: a claim is here from
 * before its node is created until the node is known to be gone.
 */
public final class Claims {
  private final ConcurrentHashMap<Owner, Claim> byOwner = new ConcurrentHashMap<>();

  // The hashes of the owners, as nodes' names have them; kept, so that a look-up need not hash.
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

  /** Returns how many have ever been added. */
  public long added() {
    return added.get();
  }

  public int size() {
    return byOwner.size();
  }

  // The end. ------------------------------------------------------------------------------------

  /**
   * Notes that the store is closed.
   *
   * @param lateCleanup removes the node of a claim that is sent meanwhile
   */
  public void close(Consumer<Claim> lateCleanup) {
    cleanup = lateCleanup;
  }

  public boolean areClosed() {
    return cleanup != null;
  }

  /**
   * Called after the creation of a claim's node was sent. If the store was closed before that, its
   * cleanup may have missed the node, which would stay for as long as the application's session.
   */
  void removeIfClosed(Claim claim) {
    Consumer<Claim> late = cleanup;
    if (late != null) {
      claim.close();
      late.accept(claim);
    }
  }
}
