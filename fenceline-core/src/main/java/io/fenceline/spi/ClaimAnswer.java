package io.fenceline.spi;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
   * @param askAgain when the server wants to be asked again; null for the store's usual interval
   */
  record Waiting(Obstacle obstacle, @Nullable Duration askAgain) implements ClaimAnswer {
    /** Asks again after the store's usual interval. */
    public Waiting(Obstacle obstacle) {
      this(obstacle, null);
    }
  }

  /**
   * It is not queued, and has nothing.
   *
   * @param obstacle who is in the way
   */
  record Refused(Obstacle obstacle) implements ClaimAnswer {}
}
