package io.fenceline.event;

/**
 * Receives the events of the locks of a client; override the methods of interest.
 *
 * <p>Each listener is called sequentially, in the order of events, on a thread of its own: a slow
 * or throwing listener delays neither locks nor other listeners. A listener that is {@value
 * #BACKLOG} events behind misses further ones; the next log line says how many.
 */
public interface LockListener {

  /** The maximum number of events that wait for a listener. */
  int BACKLOG = 10_000;

  /** Called for every event; calls the method for its kind unless overridden. */
  default void on(LockEvent event) {
    if (event instanceof Acquired acquired) {
      onAcquired(acquired);
    } else if (event instanceof HandedOff handedOff) {
      onHandedOff(handedOff);
    } else if (event instanceof Contended contended) {
      onContended(contended);
    } else if (event instanceof Refused refused) {
      onRefused(refused);
    } else if (event instanceof TimedOut timedOut) {
      onTimedOut(timedOut);
    } else if (event instanceof Released released) {
      onReleased(released);
    } else if (event instanceof Renewed renewed) {
      onRenewed(renewed);
    } else if (event instanceof Endangered endangered) {
      onEndangered(endangered);
    } else if (event instanceof Lost lost) {
      onLost(lost);
    } else if (event instanceof Leaked leaked) {
      onLeaked(leaked);
    } else if (event instanceof HeldTooLong heldTooLong) {
      onHeldTooLong(heldTooLong);
    } else if (event instanceof StoreFailed storeFailed) {
      onStoreFailed(storeFailed);
    }
  }

  /** Called when a lock was acquired by a grant of the store. */
  default void onAcquired(Acquired event) {}

  /** Called when a lock passed between two threads of this process. */
  default void onHandedOff(HandedOff event) {}

  /** Called when an acquire has to wait. */
  default void onContended(Contended event) {}

  /** Called when a try found the lock held. */
  default void onRefused(Refused event) {}

  /** Called when a caller gave up waiting. */
  default void onTimedOut(TimedOut event) {}

  /** Called when a hold ended by release. */
  default void onReleased(Released event) {}

  /** Called when a lease was renewed. */
  default void onRenewed(Renewed event) {}

  /** Called when a renewal failed. */
  default void onEndangered(Endangered event) {}

  /** Called when a hold was lost. */
  default void onLost(Lost event) {}

  /** Called when a hold leaked. */
  default void onLeaked(Leaked event) {}

  /** Called when a hold lasts longer than {@link io.fenceline.LockOptions#warnAfter}. */
  default void onHeldTooLong(HeldTooLong event) {}

  /** Called when a request to the store failed. */
  default void onStoreFailed(StoreFailed event) {}
}
