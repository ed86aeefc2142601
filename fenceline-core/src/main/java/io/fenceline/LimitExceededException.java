package io.fenceline;

import io.fenceline.settings.Durations;
import io.fenceline.settings.Limits;

/**
 * More than was allowed: more waiters, holds or undos than this client may have, and then nothing
 * was taken; or a task that was interrupted since it ran longer under the lock than it was given.
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

  /** Which limit, by its name in {@link Limits}, or {@code work limit}. */
  public String limit() {
    return limit;
  }

  /** Its value, as it is shown. */
  public String allowed() {
    return allowed;
  }
}
