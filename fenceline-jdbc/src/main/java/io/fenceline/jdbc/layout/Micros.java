package io.fenceline.jdbc.layout;

import io.fenceline.spi.GrantNumbers;
import java.time.Duration;

/** Times as the tables have them: microseconds since 1970, by the database's clock. */
public final class Micros {
  private Micros() {}

  public static long of(Duration duration) {
    return duration.toNanos() / 1_000;
  }

  /** The grant number that the clock gives, in sixteenths of a millisecond. */
  public static long clockNumber(long nowMicros) {
    return Math.max(1, (nowMicros - GrantNumbers.EPOCH_MILLIS * 1_000) * 2 / 125);
  }
}
