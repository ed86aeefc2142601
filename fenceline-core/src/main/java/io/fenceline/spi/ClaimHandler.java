package io.fenceline.spi;

/**
 * Receives the outcome of a claim.
 *
 * <p>One of {@link #granted}, {@link #refused} and {@link #failed} is called once, on any thread,
 * the calling thread of {@link LockStore#claim} included, and never under a lock of the store. A
 * store that learns after {@link #failed}, or after a withdrawal, that the claim was granted or
 * queued after all, still calls {@link #granted} or {@link #waiting}: the runtime then undoes it. A
 * store that learns after a withdrawal or a grant that a request of the claim was not answered
 * calls {@link #failed}, for that request may have arrived last.
 */
public interface ClaimHandler {

  /** The claim is granted. */
  void granted(Grant grant);

  /** The claim waits in the store's queue; may be called again as the answer changes. */
  void waiting(Obstacle obstacle);

  /** The name is not free, and the claim did not ask to wait. Nothing was left behind. */
  void refused(Obstacle obstacle);

  /**
   * The claim was not answered, or was refused for good.
   *
   * @param cause a {@link io.fenceline.StoreUnavailableException} if the outcome is unknown: the
   *     runtime asks again or undoes the claim. A {@link io.fenceline.StoreRefusedException} ends
   *     the claim: the runtime does not ask again. It undoes the claim if that was queued, or if
   *     the refusal has a cause, since the server may have failed half-way. Any other exception
   *     means that nothing was taken
   */
  void failed(RuntimeException cause);

  /**
   * The grant is gone before its validity is over, and will not come back: its session has ended,
   * or it was released by force. For stores that learn of it without asking; the others say it at
   * the next renewal.
   */
  default void gone() {}
}
