package io.fenceline.metrics;

import java.util.Locale;

/** How a hold ended. */
public enum HoldOutcome {
  /** By release, whether or not the store has confirmed it. */
  RELEASED,
  /** By loss. */
  LOST,
  /** By the end of its lease, after it had leaked. */
  LEAKED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  /** Returns the outcome as the value of a tag. */
  public String tag() {
    return tag;
  }
}
