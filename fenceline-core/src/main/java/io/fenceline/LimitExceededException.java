package io.fenceline;

import io.fenceline.settings.Durations;
import io.fenceline.settings.Limits;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a limit is reached: of waiters, holds or pending undos of the client, or of a rate
 * (nothing was acquired); when a task was interrupted because it reached its work limit; or when
 * the lease ends before a step that {@link Held#ensure} was asked for could.
 */
public final class LimitExceededException extends FencelineException {
  private static final long serialVersionUID = 1L;

  /** The {@link #limit} of work that ran longer than it was given. */
  public static final String WORK_LIMIT = "work limit";

  /** The {@link #limit} of {@link Held#ensure}, where the lease does not run for that long. */
  public static final String REMAINING_LEASE = "remaining lease";

  private final String limit;
  private final String allowed;
  private final @Nullable Duration retryAfter;

  /** Names the limit. */
  public LimitExceededException(String limit, Object allowed, String meaning) {
    this(limit, allowed, meaning, null);
  }

  /**
   * Names the limit.
   *
   * @param retryAfter when as much as was asked for may be there
   */
  public LimitExceededException(
      String limit, Object allowed, String meaning, @Nullable Duration retryAfter) {
    this(
        limit,
        allowed,
        retryAfter,
        "Limit reached: %s is at most %s. %s"
            .formatted(limit, Durations.showAny(allowed), meaning));
  }

  private LimitExceededException(
      String limit, Object allowed, @Nullable Duration retryAfter, String message) {
    super(message, null);
    this.limit = limit;
    this.allowed = Durations.showAny(allowed);
    this.retryAfter = retryAfter;
  }

  /** A hold that is valid, but not for as long as {@link Held#ensure} asked. */
  public static LimitExceededException leaseTooShort(
      String name, Duration required, Duration remaining) {
    return new LimitExceededException(
        REMAINING_LEASE,
        remaining,
        null,
        "Lock '%s' is held for %s more, but %s are required"
            .formatted(name, Durations.show(remaining), Durations.show(required)));
  }

  /**
   * Returns the name of the limit: one of {@link Limits}, {@link #WORK_LIMIT}, {@link
   * #REMAINING_LEASE}, or a rate.
   */
  public String limit() {
    return limit;
  }

  /** Returns the value of the limit, as in the message. */
  public String allowed() {
    return allowed;
  }

  /** After how long as much as was asked for may be there; empty where nobody knows. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
