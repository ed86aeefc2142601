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
 * <p>A hold that is garbage collected without having been released is no longer renewed, and is
 * reported as leaked. One with a fixed lease, which nothing renews, is reported as lost at its end.
 */
public interface Hold extends Held {

  /** The lock. */
  String name();

  /**
   * Larger than the token of every earlier conflicting hold of the same name. Send it along with
   * every write.
   */
  long token();

  /** The token together with its mode, as a fence takes it. */
  FencingToken fencingToken();

  /** The public name of this hold: the same in logs, events and inspection. Not a secret. */
  String id();

  /** When it was acquired, by the wall clock. */
  Instant acquiredAt();

  /** How long the lease is. */
  Duration lease();

  /**
   * Starts a fixed lease again, with this length.
   *
   * <p>A shorter lease ends this hold sooner, and the name is given back then, but the store keeps
   * the longer one until that happens: a request to shorten that arrived late could end a lease
   * that its holder believes in. So the name of a process that dies meanwhile stays closed until
   * the longer lease has ended.
   *
   * @throws LockLostException if the hold is lost
   * @throws StoreUnavailableException if the store gave no answer; the old lease still runs
   * @throws IllegalStateException if the hold renews itself, or was released
   */
  void extend(Duration lease) throws InterruptedException;

  /** As {@link #extend}, without blocking. */
  CompletableFuture<Void> extendAsync(Duration lease);

  /**
   * Another hold on the same grant, with the same token, without a round trip. The lock is given
   * back when the last of them is released.
   *
   * @throws LockLostException if the hold is lost
   * @throws IllegalStateException if it was released
   */
  @MustBeClosed
  Hold reenter();
}
