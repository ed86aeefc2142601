package io.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The store gave no answer, or said that it can't work now.
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

  /** Which store. */
  public String store() {
    return store;
  }
}
