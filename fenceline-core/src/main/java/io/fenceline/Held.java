package io.fenceline;

import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One lock, some permits, or several locks, held on a lease that can run out.
 *
 * <p>Any thread may use and release it. It ends once, by release or by loss, and can't be revived.
 *
 * <p>Thread-safe.
 */
public interface Held extends AutoCloseable {

  /**
   * Returns whether the lease still runs, by the local clocks alone, without I/O.
   *
   * <p>False after release and after loss. True applies to this moment only: a process that pauses
   * right afterwards may resume without the lock, which only the guarded resource can notice, by
   * the token.
   */
  boolean isValid();

  /** Returns how long the lease still runs if it is not renewed; zero if it is no longer valid. */
  Duration remaining();

  /**
   * Makes sure that this stays valid for at least that long, renewing it if it is renewed
   * automatically.
   *
   * @throws LockLostException if it is lost
   * @throws LimitExceededException if it is valid, but not for that long
   * @throws IllegalStateException if it was released
   */
  void ensure(Duration duration) throws InterruptedException;

  /**
   * Releases this, and waits for the store's answer, at most for the operation timeout. A second
   * call returns the answer of the first one. Works on an interrupted thread, and keeps the
   * interrupt.
   */
  ReleaseOutcome release();

  /** As {@link #release}, without blocking. Cancelling the future changes nothing. */
  CompletableFuture<ReleaseOutcome> releaseAsync();

  /**
   * As {@link #release}, but throws if the release did not succeed.
   *
   * @throws LockLostException if it was lost before
   * @throws StoreUnavailableException if the store gave no answer
   */
  void releaseOrThrow();

  /**
   * Adds a listener that is called, on a thread of its own, when this is lost; at once if it is
   * already lost, never if it was released.
   *
   * <p>A client has 256 threads for this, unless it has an executor: while that many listeners
   * block, the listeners of further losses wait.
   */
  void onLost(Consumer<? super Lost> listener);

  /**
   * Returns a future that completes when this is lost; it never completes if this is released
   * first.
   */
  CompletableFuture<Lost> lost();

  /** As {@link #release}; never throws. A lost hold is logged as a warning. */
  @Override
  void close();
}
