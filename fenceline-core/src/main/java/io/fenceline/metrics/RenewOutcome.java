package io.fenceline.metrics;

import java.util.Locale;

/** What came of a renewal. */
public enum RenewOutcome {
  /** The lease started again. */
  RENEWED,
  /** The store no longer knows the grant. */
  GONE,
  /** There was an error or no answer; it is tried again until the lease ends. */
  FAILED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** The outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
