package io.fenceline;

import io.fenceline.event.Lost;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Something held on a lease that can run out: one lock, some permits, or several locks at once.
 *
 * <p>Any thread may use and release it. A held thing ends once, by release or by loss, and stays
 * ended.
 *
 * <p>Thread-safe.
 */
public interface Held extends AutoCloseable {

  /**
   * Whether the lease still runs, judged by the local clocks alone, without I/O.
   *
   * <p>False after release and after loss. True is a statement about now: a process that pauses
   * right after it may wake up without the lock, which only the guarded resource can notice, by the
   * token.
   */
  boolean isValid();

  /** How long the lease runs if it is not renewed; zero when this is no longer valid. */
  Duration remaining();

  /**
   * Returns if this is valid for at least that long, renewing it where it renews itself.
   *
   * @throws LockLostException if it is lost
   * @throws LeaseTooShortException if it is valid, but not for that long
   * @throws IllegalStateException if it was released
   */
  void ensure(Duration duration) throws InterruptedException;

  /**
   * Gives back what is held; waits for the store's answer, at most for the operation timeout. A
   * second call gives the first answer. Works on an interrupted thread, and keeps the interrupt.
   */
  ReleaseOutcome release();

  /** As {@link #release}, without blocking. Cancelling the future changes nothing. */
  CompletableFuture<ReleaseOutcome> releaseAsync();

  /**
   * As {@link #release}, for those who want to know.
   *
   * @throws LockLostException if it was lost before
   * @throws StoreUnavailableException if the store gave no answer
   */
  void releaseOrThrow();

  /**
   * Calls a listener when this is lost, on a thread of its own; at once if it is lost already,
   * never if it was released.
   *
   * <p>A client has 256 threads for this, unless it was given an executor: while that many
   * listeners block, those of further losses wait.
   */
  void onLost(Consumer<? super Lost> listener);

  /** Completes when this is lost; never completes if it is released first. */
  CompletableFuture<Lost> lost();

  /** As {@link #release}; never throws. A lost hold is logged as a warning. */
  @Override
  void close();
}
