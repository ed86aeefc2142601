package io.fenceline.recipes.ratelimit;

import io.fenceline.settings.Durations;
import java.time.Duration;

/** Permits could not be had within the wait; none were taken. */
public final class RateLimitedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final int permits;
  private final Duration maxWait;
  private final Duration untilNext;

  RateLimitedException(
      String name, Terms terms, int permits, Duration maxWait, Duration untilNext) {
    super(
        "Rate limit '%s' has no %d permits within %s (limit=%s, untilNext=%s)"
            .formatted(name, permits, Durations.show(maxWait), terms, Durations.show(untilNext)));
    this.name = name;
    this.permits = permits;
    this.maxWait = maxWait;
    this.untilNext = untilNext;
  }

  /** Returns which limit. */
  public String name() {
    return name;
  }

  /** Returns how many were asked for. */
  public int permits() {
    return permits;
  }

  /** Returns how long the caller would have waited. */
  public Duration maxWait() {
    return maxWait;
  }

  /** Returns how long it would have taken, as things were. */
  public Duration untilNext() {
    return untilNext;
  }
}
