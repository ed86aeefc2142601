package io.fenceline.metrics;

import java.util.Locale;

/** A request to the store on behalf of a lock. */
public enum StoreOperation {
  /** Asks for a grant. */
  CLAIM,
  /** Renews a lease. */
  RENEW,
  /** Releases a grant. */
  RELEASE,
  /** Removes what a claim that was given up may have left. */
  WITHDRAW;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** Returns the operation as the value of a tag. */
  public String tag() {
    return tag;
  }
}
