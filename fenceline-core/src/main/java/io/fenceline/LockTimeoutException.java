package io.fenceline;

import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Thrown when others kept the lock for all of the time that the caller was willing to wait. */
public final class LockTimeoutException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final Duration maxWait;
  private final Duration waited;
  private final @Nullable String holder;
  private final @Nullable Long holderToken;
  private final @Nullable Duration holderLeaseLeft;
  private final boolean heldByThisClient;

  /**
   * Names the holder of the lock, as far as the store reported it.
   *
   * @param heldHere what this client itself holds of it, and what to do then, as the end of a
   *     sentence; null if it holds nothing
   */
  public LockTimeoutException(
      String name,
      Duration maxWait,
      Duration waited,
      @Nullable String holder,
      @Nullable Long holderToken,
      @Nullable Duration holderLeaseLeft,
      @Nullable String heldHere,
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
                heldHere == null ? "" : ". This client itself holds " + heldHere),
        null);
    this.name = name;
    this.maxWait = maxWait;
    this.waited = waited;
    this.holder = holder;
    this.holderToken = holderToken;
    this.holderLeaseLeft = holderLeaseLeft;
    this.heldByThisClient = heldHere != null;
  }

  /** Returns the name of the lock. */
  public String name() {
    return name;
  }

  /** Returns how long the caller was willing to wait. */
  public Duration maxWait() {
    return maxWait;
  }

  /** Returns how long the caller waited. */
  public Duration waited() {
    return waited;
  }

  /** Returns the label of the client that held the lock when the store last answered. */
  public Optional<String> holder() {
    return Optional.ofNullable(holder);
  }

  /** Returns the token of that holder's grant. */
  public Optional<Long> holderToken() {
    return Optional.ofNullable(holderToken);
  }

  /**
   * Returns whether this same client held the lock, be it as a reader, or some of the permits. If
   * even the same thread held it, the thread waited for itself.
   */
  public boolean heldByThisClient() {
    return heldByThisClient;
  }

  /** Returns how long the holder's lease still ran at that time. */
  public Optional<Duration> holderLeaseLeft() {
    return Optional.ofNullable(holderLeaseLeft);
  }
}
