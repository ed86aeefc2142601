package io.fenceline.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Who holds a lock, since when, and who waits.
 *
 * <p>The store knows only grants: the token shown here is the token of the grant, and tokens of
 * hand-offs within a process have the same upper bits.
 *
 * @param name the lock
 * @param holders in the order of their grants; empty when the name is free
 * @param waiters processes, in the order in which they will be granted
 */
public record LockReport(String name, List<Holder> holders, List<Waiter> waiters) {

  /** Copies the lists. */
  public LockReport {
    holders = List.copyOf(holders);
    waiters = List.copyOf(waiters);
  }

  /** Returns whether nobody holds the lock. */
  public boolean isFree() {
    return holders.isEmpty();
  }

  /**
   * A process that holds the lock.
   *
   * @param id the id of its hold, as in its logs
   * @param label as the process calls itself
   * @param host its machine
   * @param pid its process id
   * @param mode exclusive, shared, or how many permits
   * @param token of the grant
   * @param since when it was granted, by the store's clock
   * @param remaining until the name opens if it is not renewed
   */
  public record Holder(
      String id,
      String label,
      String host,
      long pid,
      String mode,
      long token,
      Instant since,
      Duration remaining) {}

  /**
   * A process that waits.
   *
   * @param id the id of its claim
   * @param label as the process calls itself
   * @param host its machine
   * @param pid its process id
   * @param mode exclusive, shared, or how many permits
   * @param since when it began to wait, by the store's clock
   */
  public record Waiter(
      String id, String label, String host, long pid, String mode, Instant since) {}
}
