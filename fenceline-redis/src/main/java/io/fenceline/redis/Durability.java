package io.fenceline.redis;

import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import java.time.Duration;

/**
 * How many replicas must have a grant before it counts.
 *
 * <p>With {@link #NONE} a grant counts when the master has it, and a failover to a replica that
 * lacks it gives the name to somebody else while the first holder still believes in its lease; its
 * token is smaller, so a fence refuses it. With {@link #replicas} each grant is followed by {@code
 * WAIT} on a connection of its own, and does not count if too few replicas acknowledge it in time:
 * a claim that waits keeps the name meanwhile and asks the replicas again, any other is withdrawn.
 * That makes the loss less likely and not impossible, and each acquisition slower; hand-over
 * between processes then takes one more round trip.
 *
 * @param replicas how many; 0 for none
 * @param timeout how long they have
 */
public record Durability(int replicas, Duration timeout) {

  /** Nobody is waited for. */
  public static final Durability NONE = new Durability(0, Duration.ofSeconds(1));

  /** Checks the figures. */
  public Durability {
    if (replicas < 0) {
      throw new InvalidSettingException("replicas to wait for", replicas, "it can't be negative");
    }
    Durations.checkPositive("replica timeout", timeout);
  }

  /** Each grant must be acknowledged by this many replicas within this time. */
  public static Durability replicas(int replicas, Duration timeout) {
    return new Durability(replicas, timeout);
  }

  boolean isNone() {
    return replicas == 0;
  }

  ReplicaWait replicaWait() {
    return new ReplicaWait(replicas, timeout);
  }
}
