package io.fenceline.metrics;

import java.util.Locale;

/** The outcome of a renewal. */
public enum RenewOutcome {
  /** The lease was renewed. */
  RENEWED,
  /** The store no longer knows the grant. */
  GONE,
  /** There was an error or no answer; the renewal is retried until the lease ends. */
  FAILED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** Returns the outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
