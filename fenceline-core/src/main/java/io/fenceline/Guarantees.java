package io.fenceline;

import io.fenceline.spi.Durations;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a store promises, and what can break it; said, not guessed.
 *
 * @param store what kind of store this is, such as {@code redis}
 * @param given the promises that hold
 * @param shortestLease the shortest lease that the store can keep
 * @param longestLease the longest one
 * @param onFailover what a failover or a crash of the server does to locks
 * @param onClockJump what a jump of the server's clock does
 * @param onWipe what a wiped or restored store means for tokens, and what to do
 */
public record Guarantees(
    String store,
    Set<Guarantee> given,
    Duration shortestLease,
    Duration longestLease,
    String onFailover,
    String onClockJump,
    String onWipe) {

  /** Copies the set. */
  public Guarantees {
    given = Set.copyOf(given);
  }

  /** Whether a promise is given. */
  public boolean gives(Guarantee guarantee) {
    return given.contains(guarantee);
  }

  /**
   * Fails unless every one of these is given.
   *
   * @throws MissingGuaranteeException naming those that are not
   */
  public void require(Set<Guarantee> required) {
    Set<Guarantee> missing = new TreeSet<>(required);
    missing.removeAll(given);
    if (!missing.isEmpty()) {
      throw new MissingGuaranteeException(store, missing);
    }
  }

  /**
   * Fails if the store can't keep such a lease.
   *
   * @throws InvalidSettingException with the figures
   */
  public void checkLease(Duration lease, Duration delay) {
    if (lease.compareTo(shortestLease) < 0 || lease.compareTo(longestLease) > 0) {
      throw new InvalidSettingException(
          "lease",
          lease,
          "the store '"
              + store
              + "' keeps leases from "
              + Durations.show(shortestLease)
              + " to "
              + Durations.show(longestLease));
    }
    if (!delay.isZero()) {
      require(Set.of(Guarantee.LOCK_DELAY));
    }
  }
}
