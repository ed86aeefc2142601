package io.fenceline;

/** More than this client may have of something; nothing was taken. */
public final class LimitExceededException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String limit;
  private final long allowed;

  /** Names the limit. */
  public LimitExceededException(String limit, long allowed, String meaning) {
    super("Limit reached: %s is at most %d. %s".formatted(limit, allowed, meaning), null);
    this.limit = limit;
    this.allowed = allowed;
  }

  /** Which limit, by its name in {@link Limits}. */
  public String limit() {
    return limit;
  }

  /** Its value. */
  public long allowed() {
    return allowed;
  }
}
