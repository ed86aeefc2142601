package io.fenceline;

import io.fenceline.spi.Durations;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Another holder kept the lock for all of the time that the caller would wait. */
public final class LockTimeoutException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final Duration maxWait;
  private final Duration waited;
  private final @Nullable String holder;
  private final @Nullable Long holderToken;
  private final @Nullable Duration holderLeaseLeft;

  /** Says who held the lock, as far as the store told. */
  public LockTimeoutException(
      String name,
      Duration maxWait,
      Duration waited,
      @Nullable String holder,
      @Nullable Long holderToken,
      @Nullable Duration holderLeaseLeft,
      String store) {
    super(
        "Lock '%s' was not acquired within %s (waited=%s%s%s%s, store=%s)"
            .formatted(
                name,
                Durations.show(maxWait),
                Durations.show(waited),
                holder == null ? "" : ", holder=" + holder,
                holderToken == null ? "" : ", holderToken=" + holderToken,
                holderLeaseLeft == null
                    ? ""
                    : ", holderLeaseLeft=" + Durations.show(holderLeaseLeft),
                store),
        null);
    this.name = name;
    this.maxWait = maxWait;
    this.waited = waited;
    this.holder = holder;
    this.holderToken = holderToken;
    this.holderLeaseLeft = holderLeaseLeft;
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

  /** How long its lease still ran then. */
  public Optional<Duration> holderLeaseLeft() {
    return Optional.ofNullable(holderLeaseLeft);
  }
}
