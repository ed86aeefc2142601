package io.fenceline.metrics;

import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.Lost;
import org.jspecify.annotations.Nullable;

/**
 * Is told what a client does, inline, on the thread on which it happens; override what is of
 * interest.
 *
 * <p>Nothing is dropped, so figures are exact; in return each call must be short, must not block,
 * and must not use the client. What it throws is logged and changes nothing. Calls come from many
 * threads at once; those of one acquire and its hold come one after another, in this order: {@link
 * #acquireStarted}, at most one {@link #waiting} and {@link #contended}, then {@link #acquired} or
 * {@link #notAcquired}; after {@link #acquired} at most one {@link #leaked} and {@link #lost}, then
 * {@link #holdEnded}.
 *
 * <p>Acquires that began before an observer was added are not told to it, and neither are their
 * holds.
 */
public interface LockObserver {

  /**
   * An acquire begins, on the thread that asks for it.
   *
   * @return handed back with everything that follows of this acquire and its hold
   */
  default @Nullable Object acquireStarted(String name) {
    return null;
  }

  /** An acquire was not settled at once: it waits for the store's answer or for the holder. */
  default void waiting(@Nullable Object context) {}

  /** An acquire found the lock held, and waits; told once for each acquire. */
  default void contended(@Nullable Object context) {}

  /**
   * An acquire succeeded, and a hold begins.
   *
   * @param outcome {@link AcquireOutcome#GRANTED} or {@link AcquireOutcome#HANDED_OFF}
   */
  default void acquired(
      @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {}

  /**
   * An acquire ended without a hold.
   *
   * @param cause the error that the caller gets, if it gets one
   */
  default void notAcquired(
      @Nullable Object context,
      AcquireOutcome outcome,
      long waitedNanos,
      @Nullable Throwable cause) {}

  /** A hold is no longer renewed although it was not released; it ends later. */
  default void leaked(@Nullable Object context, Leaked event) {}

  /** A hold is lost; {@link #holdEnded} follows. */
  default void lost(@Nullable Object context, Lost event) {}

  /** A hold ended. */
  default void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {}

  /**
   * A renewal was answered, or failed.
   *
   * @param leaseLeft how much of the lease was left when the answer came, from 0 to 1; not a number
   *     unless it was renewed
   */
  default void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {}

  /**
   * A request to the store was answered, or was not; told once for each sending.
   *
   * @param nanos from the sending to the first answer
   */
  default void storeRequest(
      String name, StoreOperation operation, RequestOutcome outcome, long nanos) {}

  /** A release or withdrawal is repeated in the background until the store answers. */
  default void undoStarted(String name) {}

  /** One of them was answered, or given up because the client was closed. */
  default void undoEnded(String name) {}

  /** An event was not told to a listener, because that one is too far behind. */
  default void eventDropped(LockEvent event) {}

  /** The client is closed; nothing is told any more, except what ends by it. */
  default void closed() {}
}
