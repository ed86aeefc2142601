package io.fenceline;

import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Another holder kept the lock for all of the time that the caller would wait. */
public final class LockTimeoutException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private static final String HELD_HERE =
      ". This very client holds it: code that has the lock already enters it again by reenter() of"
          + " its hold, or by asReentrantLock()";

  private final String name;
  private final Duration maxWait;
  private final Duration waited;
  private final @Nullable String holder;
  private final @Nullable Long holderToken;
  private final @Nullable Duration holderLeaseLeft;
  private final boolean heldByThisClient;

  /** Says who held the lock, as far as the store told. */
  public LockTimeoutException(
      String name,
      Duration maxWait,
      Duration waited,
      @Nullable String holder,
      @Nullable Long holderToken,
      @Nullable Duration holderLeaseLeft,
      boolean heldByThisClient,
      String store) {
    super(
        "Lock '%s' was not acquired within %s (waited=%s%s%s%s, store=%s)%s"
            .formatted(
                name,
                Durations.show(maxWait),
                Durations.show(waited),
                holder == null ? "" : ", holder=" + holder,
                holderToken == null ? "" : ", holderToken=" + holderToken,
                holderLeaseLeft == null
                    ? ""
                    : ", holderLeaseLeft=" + Durations.show(holderLeaseLeft),
                store,
                heldByThisClient ? HELD_HERE : ""),
        null);
    this.name = name;
    this.maxWait = maxWait;
    this.waited = waited;
    this.holder = holder;
    this.holderToken = holderToken;
    this.holderLeaseLeft = holderLeaseLeft;
    this.heldByThisClient = heldByThisClient;
  }

  /** Which lock. */
  public String name() {
    return name;
  }

  /** How long the caller was ready to wait. */
  public Duration maxWait() {
    return maxWait;
  }

  /** How long it has waited. */
  public Duration waited() {
    return waited;
  }

  /** Label of the process that held the lock when the store last answered. */
  public Optional<String> holder() {
    return Optional.ofNullable(holder);
  }

  /** Token of that process' grant. */
  public Optional<Long> holderToken() {
    return Optional.ofNullable(holderToken);
  }

  /**
   * Whether it was a hold of this same client: perhaps of this same thread, which then has waited
   * for itself.
   */
  public boolean heldByThisClient() {
    return heldByThisClient;
  }

  /** How long its lease still ran then. */
  public Optional<Duration> holderLeaseLeft() {
    return Optional.ofNullable(holderLeaseLeft);
  }
}
