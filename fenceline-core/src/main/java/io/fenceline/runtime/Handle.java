package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.LeaseTooShortException;
import io.fenceline.LockLostException;
import io.fenceline.ReleaseFailedException;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Lost;
import io.fenceline.spi.Durations;
import io.fenceline.spi.Moment;
import io.fenceline.spi.Renewal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a caller has in hand: its own end, its listeners, and a stay that does the rest. */
abstract class Handle implements Held, LossSource {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  final Stay stay;

  // Guarded by this handle's monitor.
  private List<Consumer<? super Lost>> listeners = List.of();
  private @Nullable CompletableFuture<ReleaseOutcome> outcome;

  // Written under the tenure's monitor, where it is decided what a release finds.
  private volatile boolean closed;

  /** Keeps the handle alive for as long as someone waits for its loss. */
  private static final class LostFuture extends CompletableFuture<Lost> {
    @SuppressWarnings({"unused", "FieldCanBeLocal"})
    private final Handle of;

    LostFuture(Handle of) {
      this.of = of;
    }
  }

  Handle(Stay stay) {
    this.stay = stay;
  }

  private Tenure tenure() {
    return stay.tenure;
  }

  private Engine engine() {
    return stay.tenure.engine();
  }

  // Who and what. -------------------------------------------------------------------------------

  public String name() {
    return tenure().name();
  }

  public long token() {
    return stay.token;
  }

  public String id() {
    return tenure().id();
  }

  public Instant acquiredAt() {
    return Instant.ofEpochMilli(stay.acquired.wallMillis());
  }

  public Duration lease() {
    return tenure().lease().length();
  }

  // Validity. -----------------------------------------------------------------------------------

  final boolean isOpen() {
    return !closed;
  }

  /** It has been released, or was found lost when it should have been. */
  final void markClosed() {
    closed = true;
  }

  @Override
  public boolean isValid() {
    return !remaining().isZero();
  }

  @Override
  public Duration remaining() {
    if (!isOpen() || !stay.isHeld()) {
      return Duration.ZERO;
    }
    Moment now = engine().time.now();
    Lease lease = tenure().lease();
    if (!lease.runsAt(now)) {
      tenure().noticeExpiry(now);
      return Duration.ZERO;
    }
    return Duration.ofNanos(lease.remainingNanos(now));
  }

  @Override
  public void ensure(Duration duration) throws InterruptedException {
    Durations.checkNotNegative("duration", duration);
    Duration left = remainingOrThrow();
    boolean renewable =
        tenure().terms().autoRenewal() && duration.compareTo(tenure().terms().lease()) < 0;
    if (left.compareTo(duration) < 0 && renewable) {
      Futures.awaitInterruptibly(
          engine().time,
          tenure().renewNow(tenure().terms().lease()).exceptionally(e -> Renewal.GONE));
      left = remainingOrThrow();
    }
    if (left.compareTo(duration) < 0) {
      throw new LeaseTooShortException(name(), duration, left);
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
    Lost loss = stay.loss();
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
    if (tenure().terms().autoRenewal()) {
      return CompletableFuture.failedFuture(
          new IllegalStateException(
              "This hold of lock '" + name() + "' renews itself; extend is for fixed leases"));
    }
    try {
      engine().store.checkLease(lease, tenure().terms().delay());
      Duration unused = remainingOrThrow();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return tenure()
        .renewNow(lease)
        .thenAccept(
            renewal -> {
              if (renewal instanceof Renewal.Gone || !isValid()) {
                throw ended();
              }
            });
  }

  // Release. ------------------------------------------------------------------------------------

  private CompletableFuture<ReleaseOutcome> end() {
    CompletableFuture<ReleaseOutcome> mine = new CompletableFuture<>();
    synchronized (this) {
      if (outcome != null) {
        return outcome;
      }
      outcome = mine;
    }
    try {
      CompletableFuture<ReleaseOutcome> answer = tenure().leave(this);
      if (answer.isDone()) {
        mine.complete(answer.join());
      } else {
        answer.whenComplete(
            (given, failure) -> mine.complete(given == null ? ReleaseOutcome.UNKNOWN : given));
      }
    } catch (RuntimeException e) {
      // Whatever went wrong there, the first answer is the only one, and it has to come.
      LOG.warn("Lock '{}' could not be released (id={}, token={})", name(), id(), token(), e);
      markClosed();
      mine.complete(ReleaseOutcome.UNKNOWN);
    }
    return mine;
  }

  @Override
  public ReleaseOutcome release() {
    return Futures.await(engine().time, end());
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
      throw new ReleaseFailedException(name(), token(), engine().store.description());
    }
  }

  @Override
  public void close() {
    ReleaseOutcome unused = release();
  }

  /** Gives back what nobody has taken. */
  void abandon() {
    CompletableFuture<ReleaseOutcome> unused = end();
  }

  // Loss. ---------------------------------------------------------------------------------------

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
    Lost already = stay.loss();
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
      LOG.warn("A loss listener of lock '{}' failed (id={})", name(), id(), e);
    }
  }

  @Override
  public String toString() {
    return "%s '%s' (id=%s, token=%d)".formatted(getClass().getSimpleName(), name(), id(), token());
  }
}
