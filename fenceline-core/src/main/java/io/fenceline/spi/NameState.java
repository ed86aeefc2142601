package io.fenceline.spi;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * The holders and waiters of a name, as the store has them.
 *
 * @param name the lock
 * @param holders in order of their grants
 * @param waiters in the order in which they will be granted; empty where a store has no queue
 */
public record NameState(String name, List<Holder> holders, List<Waiter> waiters) {

  /** Copies the lists. */
  public NameState {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
  }

  /** Returns a name that nobody holds. */
  public static NameState free(String name) {
    return new NameState(name, List.of(), List.of());
  }

  /**
   * A grant that runs.
   *
   * @param id the public id of its owner
   * @param client who it is
   * @param mode in which mode
   * @param number grant number
   * @param since when it was granted, by the server's clock
   * @param remaining until the name opens if it is not renewed, lock-delay included
   */
  public record Holder(
      String id, ClientInfo client, Mode mode, long number, Instant since, Duration remaining) {}

  /**
   * A claim that waits.
   *
   * @param id the public id of its owner
   * @param client who it is
   * @param mode in which mode
   * @param since when it was queued, by the server's clock
   */
  public record Waiter(String id, ClientInfo client, Mode mode, Instant since) {}
}
