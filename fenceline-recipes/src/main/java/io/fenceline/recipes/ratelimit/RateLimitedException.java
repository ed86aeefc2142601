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

  /** Which limit. */
  public String name() {
    return name;
  }

  /** How many were asked for. */
  public int permits() {
    return permits;
  }

  /** How long the caller would have waited. */
  public Duration maxWait() {
    return maxWait;
  }

  /** How long it would have taken, as things were. */
  public Duration untilNext() {
    return untilNext;
  }
}
