package io.fenceline;

import io.fenceline.spi.Durations;
import java.time.Duration;

/** A task that was interrupted because it ran longer under the lock than it was given. */
public final class WorkLimitException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final Duration limit;

  /** Shows the limit. */
  public WorkLimitException(String name, Duration limit) {
    super(
        "The task under lock '%s' was interrupted at its work limit of %s"
            .formatted(name, Durations.show(limit)),
        null);
    this.name = name;
    this.limit = limit;
  }

  /** Which lock. */
  public String name() {
    return name;
  }

  /** The limit. */
  public Duration limit() {
    return limit;
  }
}
