package io.fenceline;

import io.fenceline.settings.Defaults;
import io.fenceline.settings.Durations;
import io.fenceline.settings.WaitStrategy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable: each method returns a changed copy.
 *
 * <pre>{@code
 * LockOptions nightly = LockOptions.defaults().lease(Duration.ofMinutes(1)).keepAtLeast(Duration.ofSeconds(30));
 * }</pre>
 */
public final class LockOptions {
  private static final LockOptions DEFAULTS = new LockOptions(new Draft());

  private final Duration lease;
  private final boolean autoRenewal;
  private final Optional<Duration> maxHold;
  private final WaitStrategy waitStrategy;
  private final boolean interruptOnLoss;
  private final Duration lockDelay;
  private final Duration keepAtLeast;
  private final boolean leakTrace;
  private final Optional<Duration> warnAfter;

  /** The fields while they are being changed; everything else sees finished options only. */
  private static final class Draft {
    private Duration lease = Defaults.LEASE;
    private boolean autoRenewal = true;
    private Optional<Duration> maxHold = Optional.empty();
    private WaitStrategy waitStrategy = Defaults.WAITING;
    private boolean interruptOnLoss;
    private Duration lockDelay = Duration.ZERO;
    private Duration keepAtLeast = Duration.ZERO;
    private boolean leakTrace;
    private Optional<Duration> warnAfter = Optional.empty();
  }

  private LockOptions(Draft draft) {
    this.lease = draft.lease;
    this.autoRenewal = draft.autoRenewal;
    this.maxHold = draft.maxHold;
    this.waitStrategy = draft.waitStrategy;
    this.interruptOnLoss = draft.interruptOnLoss;
    this.lockDelay = draft.lockDelay;
    this.keepAtLeast = draft.keepAtLeast;
    this.leakTrace = draft.leakTrace;
    this.warnAfter = draft.warnAfter;
  }

  private Draft draft() {
    Draft draft = new Draft();
    draft.lease = lease;
    draft.autoRenewal = autoRenewal;
    draft.maxHold = maxHold;
    draft.waitStrategy = waitStrategy;
    draft.interruptOnLoss = interruptOnLoss;
    draft.lockDelay = lockDelay;
    draft.keepAtLeast = keepAtLeast;
    draft.leakTrace = leakTrace;
    draft.warnAfter = warnAfter;
    return draft;
  }

  /**
   * Returns the default options: a lease of 30 seconds that is renewed automatically, and a fair
   * queue.
   */
  public static LockOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Sets how long the store keeps the lock without hearing from its holder; 30 seconds by default.
   * The lease is renewed automatically.
   */
  public LockOptions lease(Duration lease) {
    Draft draft = draft();
    draft.lease = Durations.checkPositive("lease", lease);
    return new LockOptions(draft);
  }

  /**
   * Sets a lease that is not renewed automatically: it ends unless {@link Hold#extend} is called.
   */
  public LockOptions fixedLease(Duration lease) {
    Draft draft = draft();
    draft.lease = Durations.checkPositive("lease", lease);
    draft.autoRenewal = false;
    return new LockOptions(draft);
  }

  /** Sets how long after the acquire the renewal stops; the hold then ends with its lease. */
  public LockOptions maxHold(Duration maxHold) {
    Draft draft = draft();
    draft.maxHold = Optional.of(Durations.checkPositive("maxHold", maxHold));
    return new LockOptions(draft);
  }

  /** Sets how an acquire waits; in a fair queue by default. */
  public LockOptions waiting(WaitStrategy strategy) {
    Draft draft = draft();
    draft.waitStrategy = Objects.requireNonNull(strategy, "strategy");
    return new LockOptions(draft);
  }

  /**
   * Interrupts the thread that acquired the lock with a blocking call when the lock is lost. If
   * several locks that were acquired together are lost, the thread is interrupted once.
   */
  public LockOptions interruptOnLoss() {
    Draft draft = draft();
    draft.interruptOnLoss = true;
    return new LockOptions(draft);
  }

  /**
   * Keeps the name closed for a while after a lease has run out, for resources that can't check
   * tokens. The holder relies on the lease only, so the last writes can still arrive during the
   * delay.
   */
  public LockOptions lockDelay(Duration delay) {
    Draft draft = draft();
    draft.lockDelay = wholeMillis("lockDelay", delay);
    return new LockOptions(draft);
  }

  /**
   * Keeps the name closed for this long after the acquire, even if the lock is released sooner, so
   * that a short scheduled job runs only once although the servers' clocks differ.
   */
  public LockOptions keepAtLeast(Duration atLeast) {
    Draft draft = draft();
    draft.keepAtLeast = wholeMillis("keepAtLeast", atLeast);
    return new LockOptions(draft);
  }

  /**
   * Records the stack trace of each acquire, so that a leaked hold can be found; this has a small
   * cost.
   */
  public LockOptions leakTrace() {
    Draft draft = draft();
    draft.leakTrace = true;
    return new LockOptions(draft);
  }

  /**
   * Warns once, in the log and with {@link io.fenceline.event.HeldTooLong}, if a lock is still held
   * this long after the acquire. The warning names the thread that acquired the lock and, with
   * {@link #leakTrace}, its stack trace.
   */
  public LockOptions warnAfter(Duration held) {
    Draft draft = draft();
    draft.warnAfter = Optional.of(Durations.checkPositive("warnAfter", held));
    return new LockOptions(draft);
  }

  private static Duration wholeMillis(String setting, Duration value) {
    return Objects.requireNonNull(value, setting).isZero()
        ? value
        : Durations.checkPositive(setting, value);
  }

  /** See {@link #lease(Duration)}. */
  public Duration lease() {
    return lease;
  }

  /** Returns whether the lease is renewed automatically. */
  public boolean autoRenewal() {
    return autoRenewal;
  }

  /** See {@link #maxHold(Duration)}. */
  public Optional<Duration> maxHold() {
    return maxHold;
  }

  /** See {@link #waiting(WaitStrategy)}. */
  public WaitStrategy waitStrategy() {
    return waitStrategy;
  }

  /** See {@link #interruptOnLoss()}. */
  public boolean interruptsOnLoss() {
    return interruptOnLoss;
  }

  /** See {@link #lockDelay(Duration)}. */
  public Duration lockDelay() {
    return lockDelay;
  }

  /** See {@link #keepAtLeast(Duration)}. */
  public Duration keepAtLeast() {
    return keepAtLeast;
  }

  /** See {@link #leakTrace()}. */
  public boolean tracesLeaks() {
    return leakTrace;
  }

  /** See {@link #warnAfter(Duration)}. */
  public Optional<Duration> warnAfter() {
    return warnAfter;
  }

  private List<Object> parts() {
    return List.of(
        lease,
        autoRenewal,
        maxHold,
        waitStrategy,
        interruptOnLoss,
        lockDelay,
        keepAtLeast,
        leakTrace,
        warnAfter);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LockOptions options && parts().equals(options.parts());
  }

  @Override
  public int hashCode() {
    return parts().hashCode();
  }

  @Override
  public String toString() {
    return ("lease=%s, autoRenewal=%s, maxHold=%s, waiting=%s, interruptOnLoss=%s, lockDelay=%s,"
            + " keepAtLeast=%s, leakTrace=%s, warnAfter=%s")
        .formatted(
            Durations.show(lease),
            autoRenewal,
            maxHold.map(Durations::show).orElse("none"),
            waitStrategy,
            interruptOnLoss,
            Durations.show(lockDelay),
            Durations.show(keepAtLeast),
            leakTrace,
            warnAfter.map(Durations::show).orElse("none"));
  }
}
