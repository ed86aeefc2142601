package io.fenceline;

/**
 * Thrown when a client is used after it was closed, or is closed during the call. The caller holds
 * nothing.
 */
public final class ClientClosedException extends FencelineException {
  private static final long serialVersionUID = 1L;

  /** Names the store of the client. */
  public ClientClosedException(String store) {
    super("This Fenceline client is closed (store=" + store + "). Connect a new one.", null);
  }
}
