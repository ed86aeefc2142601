package io.fenceline.spi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A grant to release.
 *
 * @param grant the grant, with its owner
 * @param keepClosed how long the name stays closed from now on; zero to open it at once
 */
public record ReleaseRequest(HeldGrant grant, Duration keepClosed) {

  /**
   * Returns the same request for a later sending: the name stays closed for that much less. It
   * counts whole milliseconds, since stores drop what is less than one, and the name must not open
   * too early.
   */
  public ReleaseRequest after(long nanos) {
    if (keepClosed.isZero() || nanos <= 0) {
      return this;
    }
    Duration left = keepClosed.minusMillis(TimeUnit.NANOSECONDS.toMillis(nanos));
    return new ReleaseRequest(grant, left.isNegative() ? Duration.ZERO : left);
  }
}
