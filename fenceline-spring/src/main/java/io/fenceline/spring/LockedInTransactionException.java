package io.fenceline.spring;

/** A locked method was called inside a transaction that is already running; nothing was locked. */
public final class LockedInTransactionException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String lock;

  LockedInTransactionException(String lock, String caller) {
    super(
        ("Lock '%s' was not acquired for %s: a transaction is already running. It would commit after"
                + " the lock is released, and may read a snapshot that is older than the lock. Lock"
                + " outside of the transaction, give the method a transaction of its own"
                + " (REQUIRES_NEW), or accept it with inTransaction = HOLD_TO_THE_END.")
            .formatted(lock, caller));
    this.lock = lock;
  }

  /** Which lock. */
  public String lock() {
    return lock;
  }
}
