package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Acquired;
import io.fenceline.event.HandedOff;
import io.fenceline.event.Leaked;
import io.fenceline.event.Lost;
import io.fenceline.event.Released;
import io.fenceline.metrics.HoldFacts;
import io.fenceline.runtime.notice.Events;
import io.fenceline.spi.TokenFormat;
import io.fenceline.time.Moment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One caller's time on a grant, with its token; held by one handle, or by more after re-entry.
 *
 * <p>It refers to its handles weakly, so that the next renewal notices a caller that has dropped
 * all of them without a release. State changes under the grant's monitor.
 */
final class CallerHold implements HoldFacts {
  static final CompletableFuture<ReleaseOutcome> RELEASED =
      CompletableFuture.completedFuture(ReleaseOutcome.RELEASED);
  static final CompletableFuture<ReleaseOutcome> ALREADY_LOST =
      CompletableFuture.completedFuture(ReleaseOutcome.ALREADY_LOST);

  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  final GrantLifecycle lifecycle;
  final long token;
  final LockOptions options;
  final Moment acquired;
  private final @Nullable AcquireObservation watched;
  private final Moment waitingSince;
  private volatile State state = State.HELD;

  /** Whether no caller has it: part of a lockAll that is not complete, or granted too late. */
  private volatile boolean unclaimed;

  private volatile @Nullable Lost loss;
  private volatile @Nullable Thread boundTo;

  // Guarded by the grant. Most have one handle; only re-entry needs the list.
  private @Nullable WeakReference<Handle> first;
  private List<WeakReference<Handle>> others = List.of();
  private volatile @Nullable LossInterrupt interrupt;

  /** The lease that it began with; null once its beginning was told. Guarded by this. */
  private @Nullable LeaseTimes untold;

  CallerHold(GrantLifecycle lifecycle, long number, int handOff, Waiter waiter, Moment now) {
    this.lifecycle = lifecycle;
    this.untold = lifecycle.lease();
    this.token = TokenFormat.of(number, handOff);
    this.options = waiter.options;
    this.acquired = now;
    this.waitingSince = waiter.since;
    this.watched = waiter.watched;
  }

  @Override
  public String name() {
    return lifecycle.name();
  }

  @Override
  public String id() {
    return lifecycle.id();
  }

  @Override
  public long token() {
    return token;
  }

  /** Returns the stack trace of its acquire; null unless the options ask for it. */
  @Nullable Throwable trace() {
    return watched == null ? null : watched.trace();
  }

  /**
   * Opens another handle; called under the grant's monitor.
   *
   * @param by the thread that acquires; null if a future does
   */
  Handle open(Handle.Factory factory, @Nullable Thread by) {
    Handle handle = factory.make(this, by);
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

  /** Opens another handle, if this is still held and the given handle is open; else null. */
  @Nullable Handle reopen(Handle from, Handle.Factory factory) {
    lifecycle.noticeExpiry(lifecycle.engine().time.now());
    synchronized (lifecycle) {
      return state == State.HELD && from.isOpen() ? open(factory, Thread.currentThread()) : null;
    }
  }

  boolean isHeld() {
    return state == State.HELD;
  }

  /** How it was lost, or null. */
  @Nullable Lost loss() {
    return loss;
  }

  /** Binds it to a thread: if the thread ends without a release, the hold has leaked. */
  void bindTo(Thread thread) {
    boundTo = thread;
  }

  /** Makes a loss interrupt; at once if it is lost already. */
  void interruptOnLoss(LossInterrupt with) {
    boolean lost;
    synchronized (lifecycle) {
      interrupt = with;
      lost = state == State.LOST;
    }
    if (lost) {
      with.fire();
    }
  }

  /**
   * Interrupts the thread that asked to be interrupted by a loss, once. Not under the grant's
   * monitor: an interrupt runs code of that thread, such as the closing of a channel.
   */
  void interruptLoser() {
    LossInterrupt armed = interrupt;
    if (armed != null) {
      armed.fire();
    }
  }

  boolean interruptsOnLoss() {
    return interrupt != null;
  }

  /** Notes whether a caller has it; a hold that no caller has keeps no name closed. */
  void claimed(boolean bySomeone) {
    unclaimed = !bySomeone;
  }

  /** Returns why it has leaked, if its owner is gone without a release; null if it has not. */
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
    if (atLeast.isZero() || unclaimed) {
      return Duration.ZERO;
    }
    long left = atLeast.toNanos() - (now.nanos() - acquired.nanos());
    return left <= 0 ? Duration.ZERO : Duration.ofMillis((left + 999_999) / 1_000_000);
  }

  // Under the grant's monitor. -----------------------------------------------------------------

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

  /** Whether one of the open handles belongs to this thread. */
  boolean isOpenedBy(Thread thread) {
    return open().stream().anyMatch(handle -> handle.isOpenAndOf(thread));
  }

  /** Closes a handle; null if it was the last one, which ends the hold. */
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

  /** Marks it lost, unless it was released before; returns whether it did. */
  boolean markLost(Lost how) {
    if (state != State.HELD) {
      return false;
    }
    loss = how;
    state = State.LOST;
    return true;
  }

  // Afterwards. ---------------------------------------------------------------------------------

  /** Marks it lost because the store found its grant gone at the release. */
  void markLostAtRelease(Lost how) {
    synchronized (lifecycle) {
      loss = how;
      state = State.LOST;
    }
  }

  /** Tells every handle that was not released before, then the client's listeners. */
  void tellLost(Lost how) {
    List<Handle> told;
    synchronized (lifecycle) {
      told = open();
    }
    try {
      for (Handle handle : told) {
        handle.tellLost(how);
      }
    } finally {
      tellBegun();
      if (watched != null) {
        watched.lost(how, lifecycle.engine().time.nanos() - acquired.nanos());
      }
      lifecycle.engine().events.tell(how);
    }
  }

  /** Tells that it is no longer renewed although it was not released. */
  void tellLeaked(Leaked how) {
    tellBegun();
    if (watched != null) {
      watched.leaked(how);
    }
    lifecycle.engine().events.tell(how);
  }

  /** Tells that it was released, and returns the outcome as a future. */
  CompletableFuture<ReleaseOutcome> released(ReleaseOutcome outcome, Moment sent) {
    Engine engine = lifecycle.engine();
    if (watched != null) {
      watched.acquired(this);
      watched.released(sent.nanos() - acquired.nanos());
    }
    if (engine.events.areHeard()) {
      tellBegun();
      engine.events.tell(
          new Released(
              lifecycle.name(),
              lifecycle.id(),
              token,
              lifecycle.lease().length(),
              outcome,
              Duration.ofNanos(sent.nanos() - acquired.nanos()),
              Duration.ofNanos(engine.time.nanos() - sent.nanos())));
    }
    return outcome == ReleaseOutcome.RELEASED
        ? RELEASED
        : CompletableFuture.completedFuture(outcome);
  }

  /**
   * Tells that it has begun: once, and before anything else is told of it, since the holder may
   * release before the thread that brought the grant has told.
   */
  void tellBegun() {
    if (watched != null) {
      watched.acquired(this);
    }
    Events events = lifecycle.engine().events;
    if (!events.areHeard()) {
      return;
    }
    synchronized (this) {
      LeaseTimes lease = untold;
      if (lease != null) {
        untold = null;
        events.tell(handOff() == 0 ? acquired(lease) : handedOff(lease));
      }
    }
  }

  /** Returns its hand-off number; 0 for the first hold of a grant. */
  int handOff() {
    return (int) (token - TokenFormat.of(TokenFormat.grantNumber(token), 0));
  }

  private Acquired acquired(LeaseTimes lease) {
    return new Acquired(
        lifecycle.name(),
        lifecycle.id(),
        token,
        lease.length(),
        Duration.ofNanos(acquired.nanos() - waitingSince.nanos()),
        Duration.ofNanos(acquired.nanos() - lease.from().nanos()));
  }

  private HandedOff handedOff(LeaseTimes lease) {
    return new HandedOff(
        lifecycle.name(),
        lifecycle.id(),
        token,
        lease.length(),
        handOff(),
        Duration.ofNanos(acquired.nanos() - waitingSince.nanos()));
  }
}
