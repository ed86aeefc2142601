package io.fenceline.metrics;

import java.util.Locale;

/** What came of a request to the store. */
public enum RequestOutcome {
  /** An answer, be it that the lock is held by someone else. */
  ANSWERED,
  /** An error that the store gave as its answer. */
  FAILED,
  /** No answer: the store can't be reached, or was silent for the operation timeout. */
  UNAVAILABLE;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** The outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
