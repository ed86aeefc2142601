package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.Lost;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Renewal;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What a caller gets: its own end and listeners, on a {@link CallerHold} that does the rest. */
abstract non-sealed class Handle implements Held, LossSource, Waiter.Outcome {
  /** Makes the handle that a caller gets, by the kind of its lock. */
  interface Factory {
    /**
     * Makes a handle.
     *
     * @param by the thread that acquires; null if a future does
     */
    Handle make(CallerHold callerHold, @Nullable Thread by);
  }

  final CallerHold callerHold;
  private final int threadId;

  // Guarded by this handle's monitor.
  private List<Consumer<? super Lost>> listeners = List.of();
  private @Nullable CompletableFuture<ReleaseOutcome> outcome;

  // Written under the grant's monitor, where it is decided what a release finds.
  private volatile boolean closed;

  Handle(CallerHold callerHold, @Nullable Thread by) {
    this.callerHold = callerHold;
    this.threadId = by == null ? 0 : (int) by.getId();
  }

  private GrantLifecycle lifecycle() {
    return callerHold.lifecycle;
  }

  private Engine engine() {
    return callerHold.lifecycle.engine();
  }

  // Who and what. -------------------------------------------------------------------------------

  public String name() {
    return lifecycle().name();
  }

  public long token() {
    return callerHold.token;
  }

  public String id() {
    return lifecycle().id();
  }

  public Instant acquiredAt() {
    return Instant.ofEpochMilli(callerHold.acquired.wallMillis());
  }

  public Duration lease() {
    return lifecycle().lease().length();
  }

  // Validity. -----------------------------------------------------------------------------------

  final boolean isOpen() {
    return !closed;
  }

  /** Whether it is open, and this thread has acquired it. */
  final boolean isOpenAndOf(Thread thread) {
    return isOpen() && threadId == (int) thread.getId();
  }

  /** It was released, or found lost at its release. */
  final void markClosed() {
    closed = true;
  }

  @Override
  public boolean isValid() {
    return !remaining().isZero();
  }

  @Override
  public Duration remaining() {
    while (isOpen() && callerHold.isHeld()) {
      Moment now = engine().time.now();
      LeaseTimes lease = lifecycle().lease();
      if (lease.runsAt(now)) {
        return Duration.ofNanos(lease.remainingNanos(now));
      }
      lifecycle().noticeExpiry(now);
      if (!lifecycle().isLive()) {
        break;
      } // Otherwise it was renewed since we looked.
    }
    return Duration.ZERO;
  }

  @Override
  public void ensure(Duration duration) throws InterruptedException {
    Durations.checkNotNegative("duration", duration);
    CompletableFuture<?> renewal = renewedFor(duration);
    if (renewal != null) {
      Futures.awaitInterruptibly(engine().time, renewal);
    }
    checkLeft(duration);
  }

  /**
   * Renews it if that is needed, and allowed, for it to stay valid for that long.
   *
   * @return completes with the store's answer, or when there is none in time; null if nothing was
   *     sent
   */
  final @Nullable CompletableFuture<?> renewedFor(Duration duration) {
    Duration lease = lifecycle().terms().lease();
    boolean helps =
        remainingOrThrow().compareTo(duration) < 0
            && duration.compareTo(lease) < 0
            && lifecycle().wantsRenewal(engine().time.now());
    return helps ? lifecycle().renewNow(lease, callerHold).exceptionally(e -> Renewal.GONE) : null;
  }

  final void checkLeft(Duration duration) {
    Duration left = remainingOrThrow();
    if (left.compareTo(duration) < 0) {
      throw LimitExceededException.leaseTooShort(name(), duration, left);
    }
  }

  private Duration remainingOrThrow() {
    Duration left = remaining();
    if (left.isZero()) {
      throw ended();
    }
    return left;
  }

  /** Why this handle can't be used any more. */
  RuntimeException ended() {
    if (!isOpen()) {
      return new IllegalStateException("This hold of lock '" + name() + "' was released");
    }
    return lossException();
  }

  @Override
  public LockLostException lossException() {
    Lost loss = callerHold.loss();
    if (loss == null) {
      throw new IllegalStateException("This hold of lock '" + name() + "' is not lost");
    }
    return new LockLostException(
        name(),
        token(),
        loss.reason(),
        loss.sinceRenewal(),
        loss.lease(),
        engine().store.description());
  }

  /** See {@link io.fenceline.Hold#extend}. */
  public void extend(Duration lease) throws InterruptedException {
    Futures.awaitInterruptibly(engine().time, extended(lease));
  }

  /** See {@link io.fenceline.Hold#extendAsync}. */
  public CompletableFuture<Void> extendAsync(Duration lease) {
    return engine().forUser(extended(lease));
  }

  private CompletableFuture<Void> extended(Duration lease) {
    Durations.checkPositive("lease", lease);
    if (lifecycle().terms().autoRenewal()) {
      return CompletableFuture.failedFuture(
          new IllegalStateException(
              "This hold of lock '" + name() + "' renews itself; extend is for fixed leases"));
    }
    try {
      engine().store.checkLease(lease, lifecycle().terms().delay());
      Duration unused = remainingOrThrow();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return lifecycle()
        .renewNow(lease, callerHold)
        .thenAccept(
            renewal -> {
              if (renewal instanceof Renewal.Gone || !isValid()) {
                throw ended();
              }
            });
  }

  // Release. ------------------------------------------------------------------------------------

  /** Releases it; returns the same future for every call. */
  final CompletableFuture<ReleaseOutcome> end() {
    return end(false);
  }

  /**
   * As above.
   *
   * @param here whether this thread waits for the outcome
   */
  private CompletableFuture<ReleaseOutcome> end(boolean here) {
    CompletableFuture<ReleaseOutcome> mine = new CompletableFuture<>();
    synchronized (this) {
      if (outcome != null) {
        return outcome;
      }
      outcome = mine;
    }
    try {
      CompletableFuture<ReleaseOutcome> answer = lifecycle().leave(this, here);
      if (answer.isDone()) {
        mine.complete(answer.join());
      } else {
        answer.whenComplete(
            (given, failure) -> mine.complete(given == null ? ReleaseOutcome.UNKNOWN : given));
      }
    } catch (Throwable e) {
      // Whatever went wrong: all calls wait for this one future, so it has to be completed.
      markClosed();
      mine.complete(ReleaseOutcome.UNKNOWN);
      engine()
          .events
          .warn("Lock '{}' could not be released (id={}, token={})", name(), id(), token(), e);
    }
    return mine;
  }

  @Override
  public ReleaseOutcome release() {
    return Futures.await(engine().time, end(true));
  }

  @Override
  public CompletableFuture<ReleaseOutcome> releaseAsync() {
    return engine().forUser(end());
  }

  @Override
  public void releaseOrThrow() {
    ReleaseOutcome answer = release();
    if (answer == ReleaseOutcome.ALREADY_LOST) {
      throw lossException();
    }
    if (answer == ReleaseOutcome.UNKNOWN) {
      throw new StoreUnavailableException(
          engine().store.description(),
          "Lock '%s' was held until now, but its release was not confirmed (token=%d); it opens by itself at the end of its lease"
              .formatted(name(), token()),
          null);
    }
  }

  @Override
  public void close() {
    ReleaseOutcome unused = release();
  }

  @Override
  public final void abandon() {
    callerHold.claimed(false);
    CompletableFuture<ReleaseOutcome> unused = end();
  }

  // Loss. ---------------------------------------------------------------------------------------

  /** Whether it is known to be lost; {@link #isValid} also notices a loss. */
  final boolean isLost() {
    return callerHold.loss() != null;
  }

  @Override
  public void onLost(Consumer<? super Lost> listener) {
    Objects.requireNonNull(listener, "listener");
    synchronized (this) {
      if (wasReleased()) {
        return;
      }
      if (listeners.isEmpty()) {
        listeners = new ArrayList<>(1);
      }
      listeners.add(listener);
    }
    // It may have been lost before the listener was there to be told.
    Lost already = callerHold.loss();
    if (already != null) {
      tellLost(already);
    }
  }

  @Override
  public CompletableFuture<Lost> lost() {
    CompletableFuture<Lost> future = new LostFuture(this);
    onLost(future::complete);
    return future;
  }

  private synchronized boolean wasReleased() {
    return outcome != null && outcome.isDone() && outcome.join() == ReleaseOutcome.RELEASED;
  }

  /** Calls the listeners, each once, unless this handle was released before. */
  void tellLost(Lost how) {
    List<Consumer<? super Lost>> told;
    synchronized (this) {
      if (wasReleased()) {
        return;
      }
      told = listeners;
      listeners = List.of();
    }
    for (Consumer<? super Lost> listener : told) {
      engine().onLoss(() -> call(listener, how));
    }
  }

  private void call(Consumer<? super Lost> listener, Lost how) {
    try {
      listener.accept(how);
    } catch (Throwable e) { // An error of a listener is the listener's own.
      engine().events.warn("A loss listener of lock '{}' failed (id={})", name(), id(), e);
    }
  }

  @Override
  public String toString() {
    return "%s '%s' (id=%s, token=%d)".formatted(getClass().getSimpleName(), name(), id(), token());
  }
}
