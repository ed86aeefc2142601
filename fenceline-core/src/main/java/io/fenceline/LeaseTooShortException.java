package io.fenceline;

import io.fenceline.settings.Durations;
import java.time.Duration;

/** A hold that is valid, but not for as long as {@link Hold#ensure} asked. */
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

  /** Which lock. */
  public String name() {
    return name;
  }

  /** What was asked for. */
  public Duration required() {
    return required;
  }

  /** What is left. */
  public Duration remaining() {
    return remaining;
  }
}
