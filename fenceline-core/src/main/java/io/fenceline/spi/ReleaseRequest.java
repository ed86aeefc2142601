package io.fenceline.spi;

import java.time.Duration;

/**
 * A grant to give back.
 *
 * @param grant the grant, with its owner
 * @param keepClosed how long the name stays closed from now on; zero to open it at once
 */
public record ReleaseRequest(HeldGrant grant, Duration keepClosed) {

  /** The same, asked for later: the name stays closed for so much less. */
  public ReleaseRequest after(long nanos) {
    Duration left = keepClosed.minusNanos(nanos);
    return keepClosed.isZero() || nanos <= 0
        ? this
        : new ReleaseRequest(grant, left.isNegative() ? Duration.ZERO : left);
  }
}
