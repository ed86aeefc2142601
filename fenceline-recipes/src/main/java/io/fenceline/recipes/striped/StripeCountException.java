package io.fenceline.recipes.striped;

/** Stripes that are in use with another count: both must not go on side by side. */
public final class StripeCountException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final int count;
  private final int countInUse;

  StripeCountException(String name, int count, int countInUse, Throwable cause) {
    super(
        "Stripes '%s' are in use with another count (asked=%d, inUse=%d). Locks of different counts do not exclude each other; change the count when every client has closed the old one, or use another name."
            .formatted(name, count, countInUse),
        cause);
    this.name = name;
    this.count = count;
    this.countInUse = countInUse;
  }

  /** Which stripes. */
  public String name() {
    return name;
  }

  /** How many this client has. */
  public int count() {
    return count;
  }

  /** How many others have. */
  public int countInUse() {
    return countInUse;
  }
}
