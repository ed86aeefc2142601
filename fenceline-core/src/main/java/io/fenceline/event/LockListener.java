package io.fenceline.event;

/**
 * Hears what happens to the locks of a client; override what is of interest.
 *
 * <p>Calls to one listener come one after another, in order, on a thread of their own: a slow or
 * throwing listener delays no lock and no other listener. A listener that falls {@value #BACKLOG}
 * events behind misses the newest ones; the next log line says how many.
 */
public interface LockListener {

  /** How many events wait for a listener at most. */
  int BACKLOG = 10_000;

  /** Every event; calls the method for its kind unless overridden. */
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

  /** A grant of the store. */
  default void onAcquired(Acquired event) {}

  /** A hand-off within this process. */
  default void onHandedOff(HandedOff event) {}

  /** A wait begins. */
  default void onContended(Contended event) {}

  /** A try that did not wait. */
  default void onRefused(Refused event) {}

  /** A wait that ended with nothing. */
  default void onTimedOut(TimedOut event) {}

  /** A release. */
  default void onReleased(Released event) {}

  /** A renewal. */
  default void onRenewed(Renewed event) {}

  /** A renewal that failed. */
  default void onEndangered(Endangered event) {}

  /** A loss. */
  default void onLost(Lost event) {}

  /** A leak. */
  default void onLeaked(Leaked event) {}

  /** A hold that lasts longer than {@link io.fenceline.LockOptions#warnAfter}. */
  default void onHeldTooLong(HeldTooLong event) {}

  /** A failure of the store. */
  default void onStoreFailed(StoreFailed event) {}
}
