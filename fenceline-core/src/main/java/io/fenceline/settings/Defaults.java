package io.fenceline.settings;

import java.time.Duration;

/** What clients and locks have unless they are told otherwise, in one place. */
public final class Defaults {
  /** How long the store keeps a lock for a holder that is not heard of; it renews itself. */
  public static final Duration LEASE = Duration.ofSeconds(30);

  /** How an acquire waits. */
  public static final WaitStrategy WAITING = WaitStrategy.FAIR_QUEUE;

  /** How long connecting may take. */
  public static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** How long one request to the store may go unanswered. */
  public static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(3);

  /** How much of everything a client may have. */
  public static final Limits LIMITS = Limits.DEFAULTS;

  /** How far a lock may pass within a process. */
  public static final HandOff HAND_OFF = HandOff.DEFAULTS;

  private Defaults() {}
}
