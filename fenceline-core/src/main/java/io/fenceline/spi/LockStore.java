package io.fenceline.spi;

import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantees;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Grants names: all that a lock needs of a database or a coordination service.
 *
 * <p>To write a store, implement this interface, name it in a {@link StoreProvider}, and run the
 * contract suite of the testkit against it. Every store must also keep what the suite can't see:
 *
 * <ul>
 *   <li><b>Exclusion.</b> By the server's own time, grants that conflict never overlap.
 *   <li><b>Numbers.</b> The grant number comes from the step that grants, and is larger than every
 *       earlier number of the name, whatever was deleted or restarted since.
 *   <li><b>Owners.</b> A renewal, release or withdrawal touches the grant of its owner only.
 *       Repeats of any request are harmless, in any order: no repeat makes a lease end sooner. A
 *       grant that has ended, and only keeps the name closed, can't be reached by its owner.
 *   <li><b>Time.</b> The server's clock decides; what the client may believe counts from before the
 *       request was sent ({@link Validity}). If an end lies further ahead than its term is long,
 *       the server's clock was set back: whoever reads such an end shortens it.
 *   <li><b>Unknown outcomes.</b> A request without an answer fails with {@link
 *       io.fenceline.StoreUnavailableException} within the operation timeout. The store does not
 *       repeat claims by itself.
 *   <li><b>Refusals.</b> An error of the server that a repeat won't cure (a missing right, a wrong
 *       password, no space or memory, read-only) is a {@link io.fenceline.StoreRefusedException}.
 * </ul>
 *
 * <p>No method waits for an answer, since callers rely on timeouts and interrupts. What needs no
 * wait may be done on the calling thread, and futures may be complete on return; a store whose
 * driver blocks hands its requests to {@link io.fenceline.time.Lane#REQUEST}. Only these methods
 * may block, within the operation timeout: {@link #renew}, which the runtime calls on a thread of
 * its own, {@link #claimHere} and {@link #releaseHere}. Thread-safe.
 */
public interface LockStore extends AutoCloseable {

  /** Returns what this store is, for messages: scheme and address, without secrets. */
  String description();

  /** Returns what this store promises, and what can break it. */
  Guarantees guarantees();

  /** Claims a name; the handler receives the outcome. */
  void claim(ClaimRequest request, ClaimHandler handler);

  /**
   * As {@link #claim}, for a caller whose thread waits for the answer anyway: the store may make
   * the request on that thread, if this costs less than handing it to another one.
   *
   * <p>Returns within the operation timeout, and soon after an interrupt if it is interruptible;
   * otherwise an interrupt is kept, and changes nothing.
   */
  default void claimHere(ClaimRequest request, boolean interruptible, ClaimHandler handler) {
    claim(request, handler);
  }

  /**
   * Makes sure that nothing is left of a claim, neither a place in the queue nor a grant.
   *
   * <p>Completes when the server has confirmed it. The handler of the claim is not called any more,
   * except with a grant that crossed the withdrawal.
   */
  CompletableFuture<Void> withdraw(ClaimRequest request);

  /**
   * Renews leases, many at once.
   *
   * @return one future for each request, in order, so that a node that is down delays and fails
   *     only its own
   */
  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests);

  /**
   * Releases a grant. Even if the name is to stay closed for a while, the grant has ended: a
   * renewal or a second release finds it gone, and only time or force opens the name.
   */
  CompletableFuture<Release> release(ReleaseRequest request);

  /**
   * As {@link #release}, for a caller whose thread waits for the answer anyway: see {@link
   * #claimHere}; interrupts are kept.
   */
  default CompletableFuture<Release> releaseHere(ReleaseRequest request) {
    return release(request);
  }

  /**
   * Ends the grant with this number, whoever owns it. With a lock-delay, the name stays closed for
   * the delay at most, but the owner can't renew the grant any more.
   *
   * @return whether there was such a grant
   */
  CompletableFuture<Boolean> forceRelease(String name, long number);

  /** Returns who holds a name and who waits; numbers are grant numbers. */
  CompletableFuture<NameState> inspect(String name);

  /** Returns the names with a prefix that are held or waited for, in byte order. */
  CompletableFuture<List<NameState>> list(String prefix, int limit);

  /**
   * Returns what an operator should know about this very server: its version, missing permissions,
   * settings that put locks at risk (persistence, eviction, replication). Reads only, and also
   * reports what is in order. The caller measures reachability, latency and clock offset.
   */
  default CompletableFuture<List<Finding>> diagnose() {
    return CompletableFuture.completedFuture(List.of());
  }

  /** Checks a lease against the limits of the store; a store may know closer ones. */
  default void checkLease(Duration lease, Duration delay) {
    guarantees().checkLease(lease, delay);
  }

  /**
   * Closes connections and threads. Claims that wait and requests without an answer fail; nothing
   * is released.
   */
  @Override
  void close();
}
