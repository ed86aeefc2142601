package io.fenceline.metrics;

import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.Lost;
import org.jspecify.annotations.Nullable;

/**
 * Receives what a client does, inline, on the thread on which it happens; override the methods of
 * interest.
 *
 * <p>Nothing is dropped, so figures are exact. In return, each call must be short, must not block,
 * and must not use the client. Exceptions are logged and otherwise ignored. Calls come from many
 * threads at once; the calls for one acquire and its hold are sequential, in this order: {@link
 * #acquireStarted}, at most one {@link #waiting} and {@link #contended}, then {@link #acquired} or
 * {@link #notAcquired}; after {@link #acquired} at most one {@link #leaked} and {@link #lost}, then
 * {@link #holdEnded}.
 *
 * <p>An observer receives nothing about acquires that began before it was added, nor about their
 * holds.
 */
public interface LockObserver {

  /**
   * Called when an acquire begins, on the thread of the caller.
   *
   * @return a context that is passed to all further calls for this acquire and its hold
   */
  default @Nullable Object acquireStarted(String name) {
    return null;
  }

  /**
   * Called when an acquire is not settled at once: it waits for the store's answer or for the
   * holder.
   */
  default void waiting(@Nullable Object context) {}

  /** Called at most once for each acquire, when it found the lock held and waits. */
  default void contended(@Nullable Object context) {}

  /**
   * Called when an acquire succeeded and a hold begins.
   *
   * @param outcome {@link AcquireOutcome#GRANTED} or {@link AcquireOutcome#HANDED_OFF}
   */
  default void acquired(
      @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {}

  /**
   * Called when an acquire ended without a hold.
   *
   * @param cause the exception that the caller gets, if any
   */
  default void notAcquired(
      @Nullable Object context,
      AcquireOutcome outcome,
      long waitedNanos,
      @Nullable Throwable cause) {}

  /** Called when a hold is no longer renewed, although it was not released; it ends later. */
  default void leaked(@Nullable Object context, Leaked event) {}

  /** Called when a hold is lost; {@link #holdEnded} follows. */
  default void lost(@Nullable Object context, Lost event) {}

  /** Called when a hold ended. */
  default void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {}

  /**
   * Called when a renewal was answered or failed.
   *
   * @param leaseLeft the share of the lease that was left when the answer came, from 0 to 1; NaN
   *     unless the lease was renewed
   */
  default void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {}

  /**
   * Called once for each request to the store, when it was answered or failed.
   *
   * @param nanos from when the request was sent to the first answer
   */
  default void storeRequest(
      String name, StoreOperation operation, RequestOutcome outcome, long nanos) {}

  /**
   * Called when a release or withdrawal is from now on repeated in the background until the store
   * answers.
   */
  default void undoStarted(String name) {}

  /**
   * Called when such a release or withdrawal was answered, or given up because the client was
   * closed.
   */
  default void undoEnded(String name) {}

  /** Called when a listener misses an event because it is too far behind. */
  default void eventDropped(LockEvent event) {}

  /** Called when the client is closed; only calls for acquires and holds that end by it follow. */
  default void closed() {}
}
