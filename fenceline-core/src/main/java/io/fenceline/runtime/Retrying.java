package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.StoreUnavailableException;
import io.fenceline.WaitStrategy;
import io.fenceline.event.TimedOut;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * An acquire that asks again and again instead of queueing.
 *
 * <p>A store that does not answer is asked again too, until the time is over.
 */
final class Retrying<H extends Held> {
  private final Engine engine;
  private final LeaseLock<H> lock;
  private final WaitStrategy.Retry strategy;
  private final Duration maxWait;
  private final long startNanos;
  private final CompletableFuture<H> result = new CompletableFuture<>();
  private int refusals;
  private volatile @Nullable CompletableFuture<Optional<H>> attempt;
  private volatile @Nullable RuntimeException lastFailure;

  Retrying(Engine engine, LeaseLock<H> lock, WaitStrategy.Retry strategy, Duration maxWait) {
    this.engine = engine;
    this.lock = lock;
    this.strategy = strategy;
    this.maxWait = maxWait;
    this.startNanos = engine.time.nanos();
  }

  CompletableFuture<H> start() {
    Time.Timer timer =
        engine.time.schedule(
            Math.max(maxWait.toNanos(), maxWait.isZero() ? engine.operationNanos() : 0),
            () -> engine.callback(this::giveUp));
    result.whenComplete(
        (held, failure) -> {
          timer.cancel();
          CompletableFuture<Optional<H>> current = attempt;
          if (current != null) {
            current.cancel(false); // Nothing happens if it is what completed the result.
          }
        });
    ask();
    return engine.untilClosed(result);
  }

  private void ask() {
    if (result.isDone()) {
      return;
    }
    CompletableFuture<Optional<H>> trying = lock.tryAcquireAsync();
    attempt = trying;
    if (result.isDone()) {
      trying.cancel(false);
    }
    trying.whenComplete(this::answered);
  }

  private void answered(@Nullable Optional<H> held, @Nullable Throwable failure) {
    RuntimeException error = failure == null ? null : Futures.unwrapped(failure);
    if (error != null && !(error instanceof StoreUnavailableException)) {
      result.completeExceptionally(error);
    } else if (held != null && held.isPresent()) {
      if (!result.complete(held.get())) {
        CompletableFuture<?> unused = held.get().releaseAsync();
      }
    } else {
      lastFailure = error;
      again(error == null);
    }
  }

  private void again(boolean refused) {
    double jitter = engine.random.nextDouble() * strategy.jitter().toNanos();
    long delay = strategy.delay().toNanos() + (long) jitter;
    long left = maxWait.toNanos() - (engine.time.nanos() - startNanos);
    if (refused) {
      refusals++;
    }
    if (refusals > strategy.times() || delay >= left) {
      giveUp();
    } else {
      // Where user code may run: what the result completes may go on right here.
      engine.time.schedule(delay, () -> engine.callback(this::ask));
    }
  }

  private void giveUp() {
    RuntimeException silence = lastFailure;
    RuntimeException error =
        silence != null ? silence : lock.timeout(maxWait, startNanos, Obstacle.UNKNOWN);
    if (result.completeExceptionally(error)) {
      Duration waited = Duration.ofNanos(engine.time.nanos() - startNanos);
      engine.events.tell(() -> new TimedOut(lock.name, waited, silence != null));
    }
  }
}
