package io.fenceline.metrics;

import java.util.Locale;

/** A request to the store on behalf of a lock. */
public enum StoreOperation {
  /** Asks for a grant. */
  CLAIM,
  /** Starts a lease again. */
  RENEW,
  /** Gives a grant back. */
  RELEASE,
  /** Removes what may be left of a claim that was given up. */
  WITHDRAW;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** The operation as the value of a tag. */
  public String tag() {
    return tag;
  }
}
