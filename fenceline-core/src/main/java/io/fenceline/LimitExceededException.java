package io.fenceline;

import io.fenceline.settings.Durations;
import io.fenceline.settings.Limits;

/**
 * Thrown when a limit of the client is reached (waiters, holds or pending undos; nothing was
 * acquired), or when a task was interrupted because it reached its work limit.
 */
public final class LimitExceededException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String limit;
  private final String allowed;

  /** Names the limit. */
  public LimitExceededException(String limit, Object allowed, String meaning) {
    super(
        "Limit reached: %s is at most %s. %s".formatted(limit, Durations.showAny(allowed), meaning),
        null);
    this.limit = limit;
    this.allowed = Durations.showAny(allowed);
  }

  /** Returns the name of the limit: one of {@link Limits}, or {@code work limit}. */
  public String limit() {
    return limit;
  }

  /** Returns the value of the limit, as in the message. */
  public String allowed() {
    return allowed;
  }
}
