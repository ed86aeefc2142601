package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Acquired;
import io.fenceline.event.HandedOff;
import io.fenceline.event.Leaked;
import io.fenceline.event.Lost;
import io.fenceline.event.Released;
import io.fenceline.spi.Moment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One caller's time on a grant, with its token; held by one handle, or by more after re-entry.
 *
 * <p>It refers to its handles weakly: a caller that dropped them all without release is found out
 * at the next renewal. State changes under the tenure's monitor.
 */
final class Stay {
  static final CompletableFuture<ReleaseOutcome> RELEASED =
      CompletableFuture.completedFuture(ReleaseOutcome.RELEASED);
  static final CompletableFuture<ReleaseOutcome> ALREADY_LOST =
      CompletableFuture.completedFuture(ReleaseOutcome.ALREADY_LOST);
  private static final int HAND_OFF_BITS = 8;

  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  final Tenure tenure;
  final long token;
  final LockOptions options;
  final Moment acquired;
  final @Nullable Throwable trace;
  private final int handOff;
  private final Moment waitingSince;
  private final @Nullable Thread acquirer;
  private volatile State state = State.HELD;
  private volatile @Nullable Lost loss;
  private volatile @Nullable Thread boundTo;

  // Guarded by the tenure. Most stays have one handle; only re-entry needs the list.
  private @Nullable WeakReference<Handle> first;
  private List<WeakReference<Handle>> others = List.of();

  Stay(Tenure tenure, long number, int handOff, Waiter waiter, Moment now) {
    this.tenure = tenure;
    this.handOff = handOff;
    this.token = token(number, handOff);
    this.options = waiter.options;
    this.acquired = now;
    this.waitingSince = waiter.since;
    this.acquirer = waiter.options.interruptsOnLoss() ? waiter.thread : null;
    this.trace = waiter.trace;
  }

  static long token(long number, int handOff) {
    return number << HAND_OFF_BITS | handOff;
  }

  static long numberOf(long token) {
    return token >> HAND_OFF_BITS;
  }

  /** Another handle on it; under the tenure's monitor. */
  Handle open(Function<Stay, Handle> factory) {
    Handle handle = factory.apply(this);
    WeakReference<Handle> reference = new WeakReference<>(handle);
    if (first == null) {
      first = reference;
    } else {
      if (others.isEmpty()) {
        others = new ArrayList<>();
      }
      others.add(reference);
    }
    return handle;
  }

  /** Another handle, if it is still held and the one that asks is open; null otherwise. */
  @Nullable Handle reopen(Handle from, Function<Stay, Handle> factory) {
    tenure.noticeExpiry(tenure.engine().time.now());
    synchronized (tenure) {
      return state == State.HELD && from.isOpen() ? open(factory) : null;
    }
  }

  boolean isHeld() {
    return state == State.HELD;
  }

  /** How it was lost, or null. */
  @Nullable Lost loss() {
    return loss;
  }

  /** Ties it to the life of a thread: when that has ended, it is leaked. */
  void bindTo(Thread thread) {
    boundTo = thread;
  }

  /** Whether its owner is gone without having released it; null if not. */
  Leaked.@Nullable Cause leak(Moment now) {
    Thread bound = boundTo;
    if (bound != null && !bound.isAlive()) {
      return Leaked.Cause.OWNER_ENDED;
    }
    if (options.maxHold().isPresent()
        && now.nanos() - acquired.nanos() >= options.maxHold().get().toNanos()) {
      return Leaked.Cause.MAX_HOLD;
    }
    return open().isEmpty() ? Leaked.Cause.COLLECTED : null;
  }

  /** How long the name has to stay closed from now on. */
  Duration keepClosed(Moment now) {
    Duration atLeast = options.keepAtLeast();
    if (atLeast.isZero()) {
      return Duration.ZERO;
    }
    long left = atLeast.toNanos() - (now.nanos() - acquired.nanos());
    return left <= 0 ? Duration.ZERO : Duration.ofMillis((left + 999_999) / 1_000_000);
  }

  // Under the tenure's monitor. -----------------------------------------------------------------

  /** The handles that are neither released nor collected. */
  private List<Handle> open() {
    List<Handle> found = new ArrayList<>(1 + others.size());
    Handle one = first == null ? null : first.get();
    if (one != null) {
      found.add(one);
    }
    for (WeakReference<Handle> other : others) {
      Handle handle = other.get();
      if (handle != null) {
        found.add(handle);
      }
    }
    return found;
  }

  /** One handle less; null if it was the last one, and the stay has ended by it. */
  @Nullable CompletableFuture<ReleaseOutcome> closeOne(Handle closed) {
    closed.markClosed();
    if (state != State.HELD) {
      return ALREADY_LOST;
    }
    if (others.isEmpty()) {
      state = State.RELEASED;
      return null;
    }
    if (first != null && first.get() == closed) {
      first = others.remove(others.size() - 1);
    } else {
      others.removeIf(other -> other.get() == closed);
    }
    return RELEASED;
  }

  /** Lost, unless it was released before; the thread is interrupted while it can't yet release. */
  boolean markLost(Lost how) {
    if (state != State.HELD) {
      return false;
    }
    loss = how;
    state = State.LOST;
    if (acquirer != null) {
      acquirer.interrupt();
    }
    return true;
  }

  // Afterwards. ---------------------------------------------------------------------------------

  /** The store says at the release that the grant was gone before. */
  void markLostAtRelease(Lost how) {
    synchronized (tenure) {
      loss = how;
      state = State.LOST;
    }
  }

  /** Tells every handle that was not released before, and the client's listeners. */
  void tellLost(Lost how) {
    List<Handle> told;
    synchronized (tenure) {
      told = open();
    }
    tenure.engine().events.tell(how);
    for (Handle handle : told) {
      handle.tellLost(how);
    }
  }

  /** Tells that it was released, and gives the outcome as a future. */
  CompletableFuture<ReleaseOutcome> released(ReleaseOutcome outcome, Moment sent) {
    Engine engine = tenure.engine();
    engine.events.tell(
        () ->
            new Released(
                tenure.name(),
                tenure.id(),
                token,
                tenure.lease().length(),
                outcome,
                Duration.ofNanos(sent.nanos() - acquired.nanos()),
                Duration.ofNanos(engine.time.nanos() - sent.nanos())));
    return outcome == ReleaseOutcome.RELEASED
        ? RELEASED
        : CompletableFuture.completedFuture(outcome);
  }

  void tellAcquired(Moment now, Lease lease) {
    tenure
        .engine()
        .events
        .tell(
            () ->
                new Acquired(
                    tenure.name(),
                    tenure.id(),
                    token,
                    lease.length(),
                    Duration.ofNanos(now.nanos() - waitingSince.nanos()),
                    Duration.ofNanos(now.nanos() - lease.from().nanos())));
  }

  void tellHandedOff(Moment now) {
    tenure
        .engine()
        .events
        .tell(
            () ->
                new HandedOff(
                    tenure.name(),
                    tenure.id(),
                    token,
                    tenure.lease().length(),
                    handOff,
                    Duration.ofNanos(now.nanos() - waitingSince.nanos())));
  }
}
