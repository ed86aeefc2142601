package io.fenceline;

import io.fenceline.event.LossReason;
import io.fenceline.settings.Durations;
import java.time.Duration;

/** Thrown when a hold is no longer valid: another process may hold the lock. Stop writing. */
public final class LockLostException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final long token;
  private final LossReason reason;
  private final Duration sinceRenewal;
  private final Duration lease;

  /** Says how and when the hold was lost. */
  public LockLostException(
      String name,
      long token,
      LossReason reason,
      Duration sinceRenewal,
      Duration lease,
      String store) {
    super(message(name, token, reason, sinceRenewal, lease, store), null);
    this.name = name;
    this.token = token;
    this.reason = reason;
    this.sinceRenewal = sinceRenewal;
    this.lease = lease;
  }

  /** Returns the text of this exception, which is also the log line of a loss. */
  public static String message(
      String name,
      long token,
      LossReason reason,
      Duration sinceRenewal,
      Duration lease,
      String store) {
    return ("Lock '%s' is lost: %s, last renewed %s ago on a %s lease (token=%d, store=%s)."
            + " Another process may hold it; stop writing.")
        .formatted(
            name,
            reason.meaning(),
            Durations.show(sinceRenewal),
            Durations.show(lease),
            token,
            store);
  }

  /** Returns the name of the lock. */
  public String name() {
    return name;
  }

  /** Returns the token of the hold. */
  public long token() {
    return token;
  }

  /** Returns why the hold was lost. */
  public LossReason reason() {
    return reason;
  }

  /** Returns the time between the last renewal of the lease and the loss. */
  public Duration sinceRenewal() {
    return sinceRenewal;
  }

  /** Returns the length of the lease. */
  public Duration lease() {
    return lease;
  }
}
