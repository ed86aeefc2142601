package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.TimedOut;
import io.fenceline.settings.Durations;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.time.Lane;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one name in one mode: the way from a call of the API into the queue, and back.
 *
 * @param <H> what the caller gets, made by the handle factory
 */
class LeaseLock<H extends Held> extends AbstractAcquirable<H> {
  final String name;
  final GrantTerms terms;
  final Handle.Factory handles;

  LeaseLock(Engine engine, String name, Mode mode, LockOptions options, Handle.Factory handles) {
    super(engine, options);
    this.name = name;
    this.terms = GrantTerms.of(mode, options);
    this.handles = handles;
  }

  @Override
  String what() {
    return name;
  }

  // Blocking: on the calling thread all the way. --------------------------------------------------

  @Override
  @MustBeClosed
  public H acquire(Duration maxWait) throws InterruptedException {
    return interruptedByLoss(take(maxWait));
  }

  @Override
  public Optional<H> tryAcquire() {
    return tryTake().map(this::interruptedByLoss);
  }

  /** Acquires in the queue, whatever the options say, for as long as it takes. */
  H acquireInTurn(Duration maxWait) throws InterruptedException {
    return interruptedByLoss(takeInTurn(maxWait, true));
  }

  /** As above, for a thread that can't be interrupted; an interrupt is kept for later. */
  H acquireUninterruptibly() {
    try {
      return interruptedByLoss(takeInTurn(Durations.LONGEST, false));
    } catch (InterruptedException e) {
      throw new AssertionError("this wait does not listen to interrupts", e);
    }
  }

  private H interruptedByLoss(H held) {
    if (options.interruptsOnLoss()) {
      ((Handle) held).callerHold.interruptOnLoss(new LossInterrupt(Thread.currentThread()));
    }
    return held;
  }

  /** As {@link #acquire}; its loss interrupts nobody yet. */
  H take(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return options.waitStrategy() instanceof WaitStrategy.Retry strategy
        ? takeByAskingAgain(retries(strategy, maxWait, true))
        : takeInTurn(maxWait, true);
  }

  /** As {@link #tryAcquire}; its loss interrupts nobody yet. */
  Optional<H> tryTake() {
    try {
      return tryOnce(settingsTimeout(), false, watch(true));
    } catch (InterruptedException e) {
      throw new AssertionError("a try does not listen to interrupts", e);
    }
  }

  private H takeInTurn(Duration maxWait, boolean interruptible) throws InterruptedException {
    Waiter waiter = new Waiter(this, !maxWait.isZero(), maxWait, interruptible, watch(true));
    ClaimQueue queue = engine.queues.enter(name, waiter);
    return granted(await(queue, waiter, interruptible), maxWait, waiter);
  }

  private Optional<H> tryOnce(
      Duration limit, boolean interruptible, @Nullable AcquireObservation watched)
      throws InterruptedException {
    Waiter waiter = new Waiter(this, false, limit, interruptible, watched);
    ClaimQueue queue = engine.queues.enter(name, waiter);
    return tried(await(queue, waiter, interruptible));
  }

  private H takeByAskingAgain(RetrySchedule retries) throws InterruptedException {
    try {
      return askAgain(retries);
    } catch (InterruptedException | RuntimeException | Error e) {
      retries.failed(e);
      throw e;
    }
  }

  private H askAgain(RetrySchedule retries) throws InterruptedException {
    while (true) {
      try {
        Optional<H> held = tryOnce(retries.limitOfTry(), true, retries.watched());
        if (held.isPresent()) {
          return held.get();
        }
        retries.refused();
      } catch (StoreUnavailableException e) {
        retries.notAnswered(e);
      }
      OptionalLong delay = retries.next();
      if (delay.isEmpty()) {
        throw gaveUp(retries);
      }
      retries.waits();
      engine.pause(delay.getAsLong());
    }
  }

  private Waiter.Outcome await(ClaimQueue queue, Waiter waiter, boolean interruptible)
      throws InterruptedException {
    boolean interrupted = false;
    Waiter.Outcome outcome;
    while ((outcome = waiter.outcome()) == null) {
      long left = waiter.limitNanos - (engine.time.nanos() - waiter.since.nanos());
      if (left <= 0) {
        queue.timeOut(waiter);
        continue;
      }
      if (waiter.watched != null) {
        waiter.watched.waiting();
      }
      engine.time.park(waiter, left);
      if (Thread.interrupted()) {
        interrupted = true;
        if (interruptible) {
          queue.leave(waiter, Waiter.GONE);
        }
      }
    }
    if (waiter.watched != null) {
      waiter.watched.callerReturns();
    }
    if (outcome instanceof Waiter.Gone) {
      throw new InterruptedException();
    }
    if (interrupted) {
      Thread.currentThread().interrupt(); // Granted all the same: the caller gets both.
    }
    return outcome;
  }

  // Asynchronous. -------------------------------------------------------------------------------

  @Override
  public CompletableFuture<H> acquireAsync(Duration maxWait) {
    Durations.checkNotNegative("maxWait", maxWait);
    return options.waitStrategy() instanceof WaitStrategy.Retry
        ? forUser(ask(maxWait))
        : askInTurn(maxWait, Lane.CALLBACK);
  }

  @Override
  public CompletableFuture<Optional<H>> tryAcquireAsync() {
    Waiter waiter = new Waiter(this, false, settingsTimeout(), Lane.CALLBACK, watch(false));
    return start(waiter, this::tried);
  }

  /** As {@link #acquireAsync}, for the runtime itself: no user code may depend on the future. */
  CompletableFuture<H> ask(Duration maxWait) {
    return options.waitStrategy() instanceof WaitStrategy.Retry strategy
        ? new RetryingAcquire<>(engine, this, retries(strategy, maxWait, false)).start()
        : askInTurn(maxWait, Lane.WORK);
  }

  /** As {@link #tryAcquireAsync}, for the runtime itself. */
  CompletableFuture<Optional<H>> askOnce(Duration limit) {
    return askOnce(limit, watch(false));
  }

  /** As above, as one try of an acquire that is observed already. */
  CompletableFuture<Optional<H>> askOnce(Duration limit, @Nullable AcquireObservation watched) {
    return start(new Waiter(this, false, limit, Lane.WORK, watched), this::tried);
  }

  private CompletableFuture<H> askInTurn(Duration maxWait, Lane lane) {
    Waiter waiter = new Waiter(this, !maxWait.isZero(), maxWait, lane, watch(false));
    return start(waiter, outcome -> granted(outcome, maxWait, waiter));
  }

  private <T> CompletableFuture<T> start(Waiter waiter, Function<Waiter.Outcome, T> reading) {
    CompletableFuture<T> future = new CompletableFuture<>();
    ClaimQueue queue;
    try {
      queue = engine.queues.enter(name, waiter);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
    if (!waiter.isSettled()) {
      if (waiter.watched != null) {
        waiter.watched.waiting();
      }
      waiter.timedBy(engine.time.schedule(waiter.limitNanos, () -> queue.timeOut(waiter)));
    }
    waiter.takenBy(outcome -> complete(future, outcome, reading));
    // The user may complete it, by a cancel or a timeout: then nobody waits any more.
    future.whenComplete((value, failure) -> queue.leave(waiter, Waiter.GONE));
    return future;
  }

  private static <T> boolean complete(
      CompletableFuture<T> future, Waiter.Outcome outcome, Function<Waiter.Outcome, T> reading) {
    if (outcome instanceof Waiter.Gone) {
      return false;
    }
    try {
      return future.complete(reading.apply(outcome));
    } catch (RuntimeException | Error e) {
      return future.completeExceptionally(e);
    }
  }

  // Both. ---------------------------------------------------------------------------------------

  private Duration settingsTimeout() {
    return engine.settings.operationTimeout();
  }

  private @Nullable AcquireObservation watch(boolean blocking) {
    return engine.watchers.acquire(name, options, blocking, false);
  }

  private RetrySchedule retries(WaitStrategy.Retry strategy, Duration maxWait, boolean blocking) {
    return new RetrySchedule(
        engine, strategy, maxWait, engine.watchers.acquire(name, options, blocking, true));
  }

  @SuppressWarnings("unchecked") // The handle is what the factory of this lock made.
  private H granted(Waiter.Outcome outcome, Duration maxWait, Waiter waiter) {
    if (outcome instanceof Handle) {
      return (H) outcome;
    }
    if (outcome instanceof Waiter.Refusal refusal) {
      throw timeout(maxWait, waiter.since.nanos(), refusal.obstacle(), heldHere());
    }
    throw failure(outcome);
  }

  @SuppressWarnings("unchecked") // As above.
  private Optional<H> tried(Waiter.Outcome outcome) {
    if (outcome instanceof Waiter.Refusal) {
      return Optional.empty();
    }
    if (outcome instanceof Handle) {
      return Optional.of((H) outcome);
    }
    throw failure(outcome);
  }

  /** What a waiter was settled with, as an exception; an Error of the store is thrown here. */
  private static RuntimeException failure(Waiter.Outcome outcome) {
    Throwable cause = outcome instanceof Waiter.Failure failed ? failed.cause() : null;
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException exception
        ? exception
        : new IllegalStateException("a store threw a checked exception", cause);
  }

  private @Nullable String heldHere() {
    return SelfWait.advice(terms.mode(), engine.queues.grantsOf(name));
  }

  private LockTimeoutException timeout(
      Duration maxWait, long sinceNanos, Obstacle obstacle, @Nullable String heldHere) {
    return new LockTimeoutException(
        name,
        maxWait,
        Duration.ofNanos(engine.time.nanos() - sinceNanos),
        obstacle.holder(),
        engine.settings.tokenOf(obstacle.number()),
        obstacle.remaining(),
        heldHere,
        engine.store.description());
  }

  /** The error of a lockAll that had this lock in time, but lost it before it had the others. */
  LockTimeoutException outOfTime(Duration maxWait, long startNanos) {
    LockTimeoutException error = timeout(maxWait, startNanos, Obstacle.UNKNOWN, null);
    engine.events.tell(() -> new TimedOut(name, error.waited(), false));
    return error;
  }

  /** The error of retries in vain: the store's silence, if the last try was not answered. */
  RuntimeException gaveUp(RetrySchedule retries) {
    RuntimeException silence = retries.silence();
    Duration waited = Duration.ofNanos(engine.time.nanos() - retries.startNanos());
    engine.events.tell(() -> new TimedOut(name, waited, silence != null));
    return silence != null
        ? silence
        : timeout(retries.maxWait(), retries.startNanos(), Obstacle.UNKNOWN, heldHere());
  }
}
