package io.fenceline.spring;

/**
 * The thread was interrupted while it waited for a lock, in a method that does not declare {@link
 * InterruptedException}. Nothing is held, and the thread is still interrupted.
 */
public final class LockWaitInterruptedException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final String lock;

  LockWaitInterruptedException(String lock, InterruptedException cause) {
    super("Interrupted while waiting for lock '%s'; it was not acquired".formatted(lock), cause);
    this.lock = lock;
  }

  /** Returns which lock. */
  public String lock() {
    return lock;
  }
}
