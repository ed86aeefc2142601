package io.fenceline.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Who stands in the way of a claim, as far as the store's answer tells; each part may be unknown.
 *
 * @param holder label of a process that holds the name
 * @param number grant number of that holder
 * @param remaining how long its lease still runs
 */
public record Obstacle(
    @Nullable String holder, @Nullable Long number, @Nullable Duration remaining) {

  /** The name is not free, and nothing more is known. */
  public static final Obstacle UNKNOWN = new Obstacle(null, null, null);
}
