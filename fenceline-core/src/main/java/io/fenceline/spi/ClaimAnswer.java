package io.fenceline.spi;

import java.time.Duration;

/** What a server answers a claim with. */
public sealed interface ClaimAnswer {

  /**
   * It has the name.
   *
   * @param number grant number
   * @param length how long it may be believed
   */
  record Granted(long number, Duration length) implements ClaimAnswer {}

  /**
   * It waits in the queue.
   *
   * @param obstacle who is in the way
   */
  record Waiting(Obstacle obstacle) implements ClaimAnswer {}

  /**
   * It is not queued, and has nothing.
   *
   * @param obstacle who is in the way
   */
  record Refused(Obstacle obstacle) implements ClaimAnswer {}
}
