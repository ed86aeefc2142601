package io.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store refuses a request: a right, space or memory is missing, it is read-only, or
 * the name is in use as another kind of lock. A retry fails as well until someone fixes the cause,
 * so no call waits for that. You hold nothing.
 */
public final class StoreRefusedException extends FencelineException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what was refused, why, and what to do.
   *
   * @param what without secrets
   * @param cause the server's own words, if there are any
   */
  public StoreRefusedException(String what, @Nullable Throwable cause) {
    super(what, cause);
  }
}
