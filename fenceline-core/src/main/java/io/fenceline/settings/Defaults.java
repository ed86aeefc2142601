package io.fenceline.settings;

import java.time.Duration;

/** The default settings of clients and locks. */
public final class Defaults {
  /**
   * How long the store keeps a lock without hearing from its holder; the lease is renewed
   * automatically.
   */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** How an acquire waits. */
  public static final WaitStrategy WAITING = WaitStrategy.FAIR_QUEUE;

  /** How long connecting may take. */
  public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** How long a request to the store may take. */
  public static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(3);

  /** The limits of a client. */
  public static final Limits LIMITS = Limits.DEFAULTS;

  /** How often, and for how long, a lock may be handed on within a process. */
  public static final HandOff HAND_OFF = HandOff.DEFAULTS;

  private Defaults() {}
}
