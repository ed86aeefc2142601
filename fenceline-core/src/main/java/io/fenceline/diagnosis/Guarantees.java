package io.fenceline.diagnosis;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.LeaseLimits;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a store guarantees, and what can break it.
 *
 * @param store what kind of store this is, such as {@code redis}
 * @param given the guarantees that hold; {@link Guarantee#DURABLE} is among them if {@code durable}
 *     is {@link Certainty#YES}, and only then
 * @param durable whether grants survive a crash of the servers, with their current settings
 * @param leases the shortest and the longest lease that the store can keep
 * @param onCrash what a crash and restart of the servers does to locks, and by which setting
 * @param onFailover what a failover does to locks
 * @param onClockJump what a jump of the server's clock does
 * @param onWipe what a wiped or restored store means for tokens, and what to do
 */
public record Guarantees(
    String store,
    Set<Guarantee> given,
    Certainty durable,
    LeaseLimits leases,
    String onCrash,
    String onFailover,
    String onClockJump,
    String onWipe) {

  /** Copies the set. */
  public Guarantees {
    Set<Guarantee> all = EnumSet.noneOf(Guarantee.class);
    all.addAll(given);
    all.remove(Guarantee.DURABLE);
    if (durable == Certainty.YES) {
      all.add(Guarantee.DURABLE);
    }
    given = Set.copyOf(all);
  }

  /** Returns a copy with what is known about crashes of these servers. */
  public Guarantees durable(Certainty found, String nowOnCrash) {
    return new Guarantees(store, given, found, leases, nowOnCrash, onFailover, onClockJump, onWipe);
  }

  /** Returns whether a guarantee is given. */
  public boolean gives(Guarantee guarantee) {
    return given.contains(guarantee);
  }

  /**
   * Fails unless all of these are given.
   *
   * @throws InvalidSettingException that names the missing ones
   */
  public void require(Set<Guarantee> required) {
    Set<Guarantee> missing = new TreeSet<>(required);
    missing.removeAll(given);
    if (!missing.isEmpty()) {
      String names = missing.stream().map(Guarantee::name).collect(Collectors.joining(", "));
      String meanings = missing.stream().map(Guarantee::meaning).collect(Collectors.joining("; "));
      throw new InvalidSettingException(
          "guarantee",
          names,
          "the store '%s' does not give it (%s)%s; choose another store or drop the requirement"
              .formatted(
                  store,
                  meanings,
                  missing.contains(Guarantee.DURABLE) && !onCrash.isEmpty() ? ": " + onCrash : ""));
    }
  }

  /**
   * Fails if the store can't keep such a lease, or no name closed for such a delay after it.
   *
   * @throws InvalidSettingException with the limits of the store, or the missing guarantee
   */
  public void checkLease(Duration lease, Duration delay) {
    leases.check(lease, store);
    if (!delay.isZero()) {
      require(Set.of(Guarantee.LOCK_DELAY));
    }
  }
}
