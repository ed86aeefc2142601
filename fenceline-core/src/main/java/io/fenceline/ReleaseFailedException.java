package io.fenceline;

/**
 * A release whose outcome the store did not confirm; the name opens with the lease at the latest.
 */
public final class ReleaseFailedException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final long token;

  /** Names the hold. */
  public ReleaseFailedException(String name, long token, String store) {
    super(
        "Lock '%s' was held until now, but its release was not confirmed (token=%d, store=%s). It opens by itself at the end of its lease."
            .formatted(name, token, store),
        null);
    this.name = name;
    this.token = token;
  }

  /** Which lock. */
  public String name() {
    return name;
  }

  /** The token of the hold. */
  public long token() {
    return token;
  }
}
