package io.fenceline;

import io.fenceline.settings.Durations;
import java.time.Duration;

/** Thrown by {@link Hold#ensure} if a hold is valid, but not for as long as required. */
public final class LeaseTooShortException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final Duration required;
  private final Duration remaining;

  /** Shows both durations. */
  public LeaseTooShortException(String name, Duration required, Duration remaining) {
    super(
        "Lock '%s' is held for %s more, but %s are required"
            .formatted(name, Durations.show(remaining), Durations.show(required)),
        null);
    this.name = name;
    this.required = required;
    this.remaining = remaining;
  }

  /** Returns the name of the lock. */
  public String name() {
    return name;
  }

  /** Returns the time that was required. */
  public Duration required() {
    return required;
  }

  /** Returns the time that is left. */
  public Duration remaining() {
    return remaining;
  }
}
