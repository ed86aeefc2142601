package io.fenceline.settings;

import java.time.Duration;

/**
 * The shortest and the longest lease that a store can keep. Each store states its own: see {@link
 * io.fenceline.diagnosis.Guarantees#leases}.
 *
 * @param shortest the shortest lease
 * @param longest the longest lease
 */
public record LeaseLimits(Duration shortest, Duration longest) {

  /** Returns the limits of a store that keeps leases as long as any setting may be. */
  public static LeaseLimits from(Duration shortest) {
    return new LeaseLimits(shortest, Durations.LONGEST);
  }

  /**
   * Fails if the store can't keep such a lease.
   *
   * @param store what kind of store this is, for the message
   * @throws InvalidSettingException with the limits
   */
  public void check(Duration lease, String store) {
    if (lease.compareTo(shortest) < 0 || lease.compareTo(longest) > 0) {
      throw new InvalidSettingException(
          "lease",
          lease,
          "the store '%s' keeps leases from %s to %s"
              .formatted(store, Durations.show(shortest), Durations.show(longest)));
    }
  }
}
