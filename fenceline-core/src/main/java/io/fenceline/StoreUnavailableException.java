package io.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store does not answer, or reports that it can't work at the moment.
 *
 * <p>You hold nothing. If a claim was under way, the name may stay closed for up to one lease.
 */
public final class StoreUnavailableException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String store;

  /**
   * Says what was tried.
   *
   * @param store description of the store, without secrets
   * @param what what was tried and what came of it, without secrets
   */
  public StoreUnavailableException(String store, String what, @Nullable Throwable cause) {
    super(what + " (store=" + store + ")", cause);
    this.store = store;
  }

  /** Returns a description of the store, without secrets. */
  public String store() {
    return store;
  }
}
