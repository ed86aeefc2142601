package io.fenceline.metrics;

import java.util.Locale;

/** How an acquire ended. */
public enum AcquireOutcome {
  /** By a grant of the store. */
  GRANTED,
  /** By a hand-off of another thread of this client, without a round trip. */
  HANDED_OFF,
  /** The lock is held, and the caller did not wait. */
  REFUSED,
  /** The lock was held for all of the caller's maximum wait. */
  TIMED_OUT,
  /** The store gave no answer or an error, the client was closed, or a limit was reached. */
  FAILED,
  /** The caller was interrupted, or cancelled its future. */
  INTERRUPTED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** Returns the outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
