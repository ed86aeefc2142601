package io.fenceline;

/**
 * Thrown when a fence refuses a write because a later holder, with a larger token, has already
 * written.
 */
public final class StaleTokenException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String resource;
  private final long offered;
  private final long accepted;

  /** Shows both tokens. */
  public StaleTokenException(String resource, FencingToken offered, long accepted) {
    super(
        ("Resource '%s' refused %s token %d: it has accepted %d. The lock was lost before this write;"
                + " a later holder has written. If the lock's store was wiped or restored, its numbers"
                + " may have started again: see tokenBase.")
            .formatted(
                resource, offered.exclusive() ? "exclusive" : "shared", offered.value(), accepted),
        null);
    this.resource = resource;
    this.offered = offered.value();
    this.accepted = accepted;
  }

  /** Returns the name of the guarded resource. */
  public String resource() {
    return resource;
  }

  /** Returns the token that was refused. */
  public long offered() {
    return offered;
  }

  /** Returns the larger token that the resource has accepted. */
  public long accepted() {
    return accepted;
  }
}
