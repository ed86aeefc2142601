package io.fenceline.zookeeper;

import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Release;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The leaving of a claim: its node is deleted, because it is given back, withdrawn, or refused.
 *
 * <p>State is guarded by the claim's monitor; nobody is told anything under it.
 */
final class Departure {
  private final Claim claim;
  private final OwnNode node;
  private final ClaimRequest request;
  private final ZooKeeperLockStore store;
  private final Withdrawals withdrawals = new Withdrawals();

  // Guarded by the claim.
  private boolean unwanted;

  /**
   * What there is to delete.
   *
   * @param isNew whether nothing was ever asked for
   * @param path the node; null if it is not known
   * @param step where it leaves a trail; null if it had not got the name, or leaves none
   */
  record Remainder(boolean isNew, @Nullable String path, Trail.@Nullable Step step) {}

  Departure(Claim claim, OwnNode node, ClaimRequest request, ZooKeeperLockStore store) {
    this.claim = claim;
    this.node = node;
    this.request = request;
    this.store = store;
  }

  /** Whether it was withdrawn; called under the claim's monitor. */
  boolean isUnwanted() {
    return unwanted;
  }

  /** Makes sure that there is no node. */
  CompletableFuture<Void> withdraw() {
    synchronized (claim) {
      unwanted = true;
      if (claim.is(Claim.State.OVER)) {
        return CompletableFuture.completedFuture(null);
      }
      if (claim.is(Claim.State.ASKING)) {
        return withdrawals.add(); // Whatever is heard next ends it.
      }
    }
    return remove(false).thenAccept(release -> {});
  }

  /** Gives the grant back. */
  CompletableFuture<Release> release() {
    boolean handsOver;
    synchronized (claim) {
      handsOver =
          claim.is(Claim.State.GRANTED)
              && claim.wait.hasBegun()
              && request.mode() instanceof Mode.Exclusive;
    }
    return remove(handsOver);
  }

  /** Leaves the line, then does something; whoever withdrew it meanwhile is told. */
  void leave(Runnable then) {
    remove(false)
        .whenComplete(
            (release, failure) -> {
              boolean heard;
              synchronized (claim) {
                heard = !unwanted;
              }
              withdrawals.end(failure);
              if (heard && failure == null) {
                then.run();
              } else if (heard) {
                claim.handler().failed(store.meaning(failure));
              }
            });
  }

  /** An attempt has failed, so it is not known whether there is a node. */
  void failed(RuntimeException cause) {
    withdrawals.end(cause);
  }

  /** Deletes the node, or whatever there is if it is not known which. */
  private CompletableFuture<Release> remove(boolean handsOver) {
    Remainder left = claim.startsToLeave();
    CompletableFuture<Release> removal;
    if (left.isNew()) {
      removal = CompletableFuture.completedFuture(Release.GONE);
    } else {
      removal = left.path() == null ? node.purge() : node.delete(left.path(), handsOver);
    }
    return removal.whenComplete(
        (release, failure) -> {
          if (failure == null && left.step() != null) {
            left.step().gone();
          }
          claim.hasLeft(failure == null);
        });
  }
}
