package io.fenceline.metrics;

import java.util.Locale;

/** The outcome of a request to the store. */
public enum RequestOutcome {
  /** The store answered, even if only that the lock is held by someone else. */
  ANSWERED,
  /** The store answered with an error. */
  FAILED,
  /** The store could not be reached, or did not answer within the operation timeout. */
  UNAVAILABLE;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** Returns the outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
