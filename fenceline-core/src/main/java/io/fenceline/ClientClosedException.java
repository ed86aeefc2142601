package io.fenceline;

/** The client was closed before or during the call; it holds nothing any more. */
public final class ClientClosedException extends FencelineException {
  private static final long serialVersionUID = 1L;

  /** Names the store of the client. */
  public ClientClosedException(String store) {
    super("This Fenceline client is closed (store=" + store + "). Connect a new one.", null);
  }
}
