package io.fenceline.redis;

import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.redis.connection.Topologies;
import io.fenceline.redis.diagnostics.CrashSafety;
import io.fenceline.settings.LeaseLimits;
import java.time.Duration;
import java.util.EnumSet;

/** What Redis and Valkey promise as a store of locks, and what they do not. */
final class RedisGuarantees {
  private static final Duration SHORTEST_LEASE = Duration.ofMillis(50);

  private RedisGuarantees() {}

  /**
   * The guarantees.
   *
   * @param server redis or valkey
   */
  static Guarantees of(String server, Topologies.Kind kind, Durability durability) {
    return new Guarantees(
        server,
        EnumSet.complementOf(EnumSet.of(Guarantee.LINEARIZABLE)),
        Certainty.UNKNOWN,
        LeaseLimits.from(SHORTEST_LEASE),
        CrashSafety.BY_ITS_SETTINGS,
        onFailover(kind, durability),
        "a clock set forward ends leases early by as much, and another holder may come before the first"
            + " has noticed; a clock set back keeps a name closed for one lease more; tokens rise",
        "tokens go on from the server's clock and from what clients have seen; locks are forgotten,"
            + " which their holders learn at their next renewal");
  }

  private static String onFailover(Topologies.Kind kind, Durability durability) {
    String lost =
        "a lock that the new master lacks is lost: its holder learns of it at its next renewal,"
            + " and until then another one may hold it, with a larger token";
    if (kind == Topologies.Kind.SINGLE) {
      return "there is no failover; a restart forgets what was not persisted: " + lost;
    }
    return durability.isNone()
        ? lost
        : lost
            + "; grants have been acknowledged by "
            + durability.replicas()
            + " replicas, which makes that less likely, not impossible";
  }
}
