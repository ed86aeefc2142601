package io.fenceline.spi;

import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A coordination service, seen as the one thing that it does for locks: it grants names.
 *
 * <p>To write a store, implement this interface, name it in a {@link StoreProvider}, and run the
 * contract suite of the testkit against it. What the suite can't see, and every store has to keep:
 *
 * <ul>
 *   <li><b>Exclusion.</b> By the server's own time, grants that conflict never overlap.
 *   <li><b>Numbers.</b> The grant number comes from the very step that grants, and is larger than
 *       every number of the name that was granted before, whatever was deleted or restarted since.
 *   <li><b>Owners.</b> A renewal, release or withdrawal touches the grant of its owner only.
 *       Repeats of any request are harmless, in any order: no repeat makes a lease end sooner, and
 *       a grant that was given back or taken away, and only keeps the name closed, is out of its
 *       owner's reach.
 *   <li><b>Time.</b> The server's clock decides; what the client may believe counts from before the
 *       sending ({@link Validity}). An end that lies further ahead than its term is long is not
 *       believed: the server's clock was set back, and whoever reads it shortens it.
 *   <li><b>Unknown outcomes.</b> A request without an answer fails with {@link
 *       io.fenceline.StoreUnavailableException} within the operation timeout. The store does not
 *       repeat claims by itself.
 *   <li><b>Refusals.</b> What the server has answered for good (a missing right, a wrong password,
 *       no space or memory, read-only) is a {@link io.fenceline.StoreRefusedException}: nobody
 *       waits for it to go away.
 * </ul>
 *
 * <p>No method waits for an answer: callers count on limits and interrupts. What needs no waiting
 * may be done on the calling thread, and futures may be complete on return; a store whose driver
 * blocks hands its requests to {@link io.fenceline.time.Lane#REQUEST}. Only these may block, within
 * the operation timeout: {@link #renew}, which the runtime calls on a thread of its own, {@link
 * #claimHere} and {@link #releaseHere}. Thread-safe.
 */
public interface LockStore extends AutoCloseable {

  /** Returns what this store is, for messages: scheme and address, without secrets. */
  String description();

  /** Returns what this store promises, and what can break it. */
  Guarantees guarantees();

  /** Claims a name; the handler hears what becomes of it. */
  void claim(ClaimRequest request, ClaimHandler handler);

  /**
   * As {@link #claim}, for a caller whose thread waits for the answer in any case: the store may
   * make the request on it, if that costs less than to hand it to another one.
   *
   * <p>Returns within the operation timeout, and soon after an interrupt if it is interruptible;
   * otherwise an interrupt is kept, and changes nothing.
   */
  default void claimHere(ClaimRequest request, boolean interruptible, ClaimHandler handler) {
    claim(request, handler);
  }

  /**
   * Makes sure that nothing of a claim is left, be it waiting or granted.
   *
   * <p>Completes when the server has confirmed it. The handler of the claim is not called any more,
   * unless with a grant that crossed the withdrawal.
   */
  CompletableFuture<Void> withdraw(ClaimRequest request);

  /**
   * Starts leases again, many at once.
   *
   * @return one future for each request, in order, so that a node that is down delays and fails
   *     only its own
   */
  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests);

  /**
   * Gives a grant back. Where the name is to stay closed for a while, the grant has ended all the
   * same: a renewal or a second release of it finds it gone, and only time or force opens the name.
   */
  CompletableFuture<Release> release(ReleaseRequest request);

  /**
   * As {@link #release}, for a caller whose thread waits for the answer in any case: see {@link
   * #claimHere}, without interrupts.
   */
  default CompletableFuture<Release> releaseHere(ReleaseRequest request) {
    return release(request);
  }

  /**
   * Ends the grant with this number, whoever owns it. With a lock-delay, the name stays closed for
   * the delay, at most; the owner has lost the grant all the same, and can't renew it.
   *
   * @return whether there was such a grant
   */
  CompletableFuture<Boolean> forceRelease(String name, long number);

  /** Returns who holds a name and who waits; numbers are grant numbers. */
  CompletableFuture<NameState> inspect(String name);

  /** States of the names that start with a prefix and are held or waited for, in byte order. */
  CompletableFuture<List<NameState>> list(String prefix, int limit);

  /**
   * Returns what an operator should know about this very server: its version, missing permissions,
   * settings that put locks at risk (persistence, eviction, replication). Reads only, and says also
   * what is as it should be. Whether it answers at all, how fast, and how its clock differs from
   * ours is measured by whoever asks.
   */
  default CompletableFuture<List<Finding>> diagnose() {
    return CompletableFuture.completedFuture(List.of());
  }

  /** Checks that a lease can be kept; the guarantees' bounds unless the store knows better. */
  default void checkLease(Duration lease, Duration delay) {
    guarantees().checkLease(lease, delay);
  }

  /**
   * Ends connections and threads. Claims that still wait, and requests that were not answered,
   * fail; nothing is released.
   */
  @Override
  void close();
}
