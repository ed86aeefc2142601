package io.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The store has answered, and its answer is no: it lacks a right, space or memory, is read-only, or
 * has the name in use in another way. Asking again changes nothing until someone mends the cause,
 * so nothing waits for it. You hold nothing.
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
