package io.fenceline;

/** A grant number that does not fit into a token; the claim was undone, since tokens never wrap. */
public final class TokenOverflowException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final long number;

  /** Shows the number. */
  public TokenOverflowException(String name, long number, long max) {
    super(
        "Lock '%s' was given grant number %d, which does not fit into a token (largest=%d). Check the store's clock and tokenBase."
            .formatted(name, number, max),
        null);
    this.name = name;
    this.number = number;
  }

  /** Which lock. */
  public String name() {
    return name;
  }

  /** The number that did not fit. */
  public long number() {
    return number;
  }
}
