package io.fenceline.runtime;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.FencelineException;
import io.fenceline.Held;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.WaitStrategy;
import io.fenceline.spi.Durations;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One name in one mode, to be acquired: the way from a call of the API into the queue, and back.
 *
 * @param <H> what the caller gets; the handle factory makes it
 */
class LeaseLock<H extends Held> extends AbstractAcquirable<H> {
  final String name;
  final Queues queues;
  private final Terms terms;
  private final Function<Stay, Handle> handles;

  LeaseLock(
      Engine engine,
      Queues queues,
      String name,
      Mode mode,
      LockOptions options,
      Function<Stay, Handle> handles) {
    super(engine, options);
    this.queues = queues;
    this.name = name;
    this.terms = Terms.of(mode, options);
    this.handles = handles;
  }

  @Override
  String what() {
    return name;
  }

  // Blocking. -----------------------------------------------------------------------------------

  @Override
  @MustBeClosed
  public H acquire(Duration maxWait) throws InterruptedException {
    Durations.checkNotNegative("maxWait", maxWait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (options.waitStrategy() instanceof WaitStrategy.Retry) {
      return Futures.awaitInterruptibly(engine.time, acquireAsync(maxWait));
    }
    Waiter waiter = waiter(!maxWait.isZero(), maxWait, Thread.currentThread());
    ClaimQueue queue = queues.enter(name, waiter);
    return granted(await(queue, waiter, true), maxWait, waiter);
  }

  @Override
  public Optional<H> tryAcquire() {
    Waiter waiter = waiter(false, settingsTimeout(), Thread.currentThread());
    ClaimQueue queue = queues.enter(name, waiter);
    try {
      return tried(await(queue, waiter, false));
    } catch (InterruptedException e) {
      throw new AssertionError("a try does not listen to interrupts", e);
    }
  }

  /** Acquires for a thread that can't be interrupted; an interrupt is kept for later. */
  H acquireUninterruptibly() {
    Duration ever = Durations.LONGEST;
    Waiter waiter = waiter(true, ever, Thread.currentThread());
    ClaimQueue queue = queues.enter(name, waiter);
    try {
      return granted(await(queue, waiter, false), ever, waiter);
    } catch (InterruptedException e) {
      throw new AssertionError("this wait does not listen to interrupts", e);
    }
  }

  private Object await(ClaimQueue queue, Waiter waiter, boolean interruptible)
      throws InterruptedException {
    long limit = waiter.queues ? waiter.maxWait.toNanos() : engine.operationNanos();
    boolean interrupted = false;
    Object outcome;
    while ((outcome = waiter.outcome()) == null) {
      long left = limit - (engine.time.nanos() - waiter.since.nanos());
      if (left <= 0) {
        queue.timeOut(waiter);
        continue;
      }
      engine.time.park(waiter, left);
      if (Thread.interrupted()) {
        interrupted = true;
        if (interruptible) {
          queue.leave(waiter, Waiter.GONE);
        }
      }
    }
    if (outcome == Waiter.GONE) {
      throw new InterruptedException();
    }
    if (interrupted) {
      Thread.currentThread().interrupt(); // Granted all the same: the caller hears of both.
    }
    return outcome;
  }

  // Asynchronous. -------------------------------------------------------------------------------

  @Override
  public CompletableFuture<H> acquireAsync(Duration maxWait) {
    Durations.checkNotNegative("maxWait", maxWait);
    if (options.waitStrategy() instanceof WaitStrategy.Retry retry) {
      return new Retrying<>(engine, this, retry, maxWait).start();
    }
    Waiter waiter = waiter(!maxWait.isZero(), maxWait, null);
    return start(waiter, outcome -> granted(outcome, maxWait, waiter));
  }

  @Override
  public CompletableFuture<Optional<H>> tryAcquireAsync() {
    return start(waiter(false, settingsTimeout(), null), this::tried);
  }

  private <T> CompletableFuture<T> start(Waiter waiter, Function<Object, T> reading) {
    CompletableFuture<T> future = new CompletableFuture<>();
    ClaimQueue queue;
    try {
      queue = queues.enter(name, waiter);
    } catch (FencelineException e) {
      return CompletableFuture.failedFuture(e);
    }
    if (!waiter.isSettled()) {
      long limit = waiter.queues ? waiter.maxWait.toNanos() : engine.operationNanos();
      waiter.timedBy(engine.time.schedule(limit, () -> queue.timeOut(waiter)));
    }
    waiter.takenBy(outcome -> complete(future, outcome, reading));
    future.whenComplete(
        (value, failure) -> {
          if (future.isCancelled()) {
            queue.leave(waiter, Waiter.GONE);
          }
        });
    return future;
  }

  private static <T> boolean complete(
      CompletableFuture<T> future, Object outcome, Function<Object, T> reading) {
    if (outcome == Waiter.GONE) {
      return false;
    }
    try {
      return future.complete(reading.apply(outcome));
    } catch (RuntimeException e) {
      return future.completeExceptionally(e);
    }
  }

  // Both. ---------------------------------------------------------------------------------------

  private Duration settingsTimeout() {
    return engine.settings.operationTimeout();
  }

  private Waiter waiter(boolean waits, Duration maxWait, @Nullable Thread thread) {
    return new Waiter(terms, options, waits, maxWait, engine.time.now(), thread, handles);
  }

  @SuppressWarnings("unchecked") // The handle is what the factory of this lock made.
  private H granted(Object outcome, Duration maxWait, Waiter waiter) {
    if (outcome instanceof Handle) {
      return (H) outcome;
    }
    if (outcome instanceof Waiter.Refusal refusal) {
      throw timeout(maxWait, waiter.since.nanos(), refusal.obstacle());
    }
    throw (RuntimeException) outcome;
  }

  @SuppressWarnings("unchecked") // As above.
  private Optional<H> tried(Object outcome) {
    if (outcome instanceof Waiter.Refusal) {
      return Optional.empty();
    }
    if (outcome instanceof Handle) {
      return Optional.of((H) outcome);
    }
    throw (RuntimeException) outcome;
  }

  LockTimeoutException timeout(Duration maxWait, long sinceNanos, Obstacle obstacle) {
    return new LockTimeoutException(
        name,
        maxWait,
        Duration.ofNanos(engine.time.nanos() - sinceNanos),
        obstacle.holder(),
        engine.tokenOf(obstacle.number()),
        obstacle.remaining(),
        engine.store.description());
  }
}
