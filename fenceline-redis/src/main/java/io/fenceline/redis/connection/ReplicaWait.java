package io.fenceline.redis.connection;

import java.time.Duration;

/**
 * How many replicas are waited for after a grant, and for how long.
 *
 * @param replicas how many; 0 for none
 * @param timeout how long they have
 */
public record ReplicaWait(int replicas, Duration timeout) {
  /** Nobody is waited for. */
  public static final ReplicaWait NONE = new ReplicaWait(0, Duration.ofSeconds(1));

  public boolean isNone() {
    return replicas == 0;
  }
}
