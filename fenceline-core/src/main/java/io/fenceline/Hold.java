package io.fenceline;

import com.google.errorprone.annotations.MustBeClosed;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;

/**
 * One acquisition of a lock, with its fencing token.
 *
 * <pre>{@code
 * try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
 *   ledger.append(entry, hold.token());
 * }
 * }</pre>
 *
 * <p>A hold that is garbage collected before it was released is no longer renewed, and is reported
 * as leaked. A hold with a fixed lease, which is not renewed anyway, is reported as lost when its
 * lease ends.
 */
public interface Hold extends Held {

  /** Returns the name of the lock. */
  String name();

  /**
   * Returns the fencing token: larger than the token of every earlier conflicting hold of the same
   * name. Send it along with every write.
   */
  long token();

  /** Returns the token together with its mode, for a {@link io.fenceline.fence.Fence}. */
  FencingToken fencingToken();

  /**
   * Returns the public name of this hold: the same in logs, events and inspection. Not a secret.
   */
  String id();

  /** Returns when it was acquired, by the wall clock. */
  Instant acquiredAt();

  /** Returns the length of the lease. */
  Duration lease();

  /**
   * Restarts a fixed lease with this length.
   *
   * <p>A shorter lease ends this hold sooner, and the name is then released. The store keeps the
   * longer lease until that happens, since a late request to shorten it could end a lease that its
   * holder still relies on. If the process dies meanwhile, the name stays closed until the longer
   * lease has ended.
   *
   * @throws LockLostException if the hold is lost
   * @throws StoreUnavailableException if the store gave no answer; the old lease still runs
   * @throws IllegalStateException if the hold is renewed automatically, or was released
   */
  void extend(Duration lease) throws InterruptedException;

  /** As {@link #extend}, without blocking. */
  CompletableFuture<Void> extendAsync(Duration lease);

  /**
   * Returns another hold on the same grant, with the same token, without a round trip. The lock is
   * released when the last of these holds is released.
   *
   * @throws LockLostException if the hold is lost
   * @throws IllegalStateException if it was released
   */
  @MustBeClosed
  Hold reenter();
}
