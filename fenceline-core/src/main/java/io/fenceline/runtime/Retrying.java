package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.StoreUnavailableException;
import io.fenceline.WaitStrategy;
import io.fenceline.event.TimedOut;
import io.fenceline.spi.Obstacle;
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
  private int asked;
  private volatile @Nullable CompletableFuture<Optional<H>> attempt;

  Retrying(Engine engine, LeaseLock<H> lock, WaitStrategy.Retry strategy, Duration maxWait) {
    this.engine = engine;
    this.lock = lock;
    this.strategy = strategy;
    this.maxWait = maxWait;
    this.startNanos = engine.time.nanos();
  }

  CompletableFuture<H> start() {
    result.whenComplete(
        (held, failure) -> {
          CompletableFuture<Optional<H>> current = attempt;
          if (result.isCancelled() && current != null) {
            current.cancel(false);
          }
        });
    ask();
    return result;
  }

  private void ask() {
    if (result.isDone()) {
      return;
    }
    asked++;
    CompletableFuture<Optional<H>> trying;
    try {
      trying = lock.tryAcquireAsync();
    } catch (RuntimeException e) {
      result.completeExceptionally(e);
      return;
    }
    attempt = trying;
    if (result.isCancelled()) {
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
      again(error);
    }
  }

  private void again(@Nullable RuntimeException error) {
    double jitter = engine.random.nextDouble() * strategy.jitter().toNanos();
    long delay = strategy.delay().toNanos() + (long) jitter;
    Duration waited = Duration.ofNanos(engine.time.nanos() - startNanos);
    boolean refusedOnce = error == null;
    if ((refusedOnce && asked > strategy.times())
        || waited.plusNanos(delay).compareTo(maxWait) > 0) {
      engine.events.tell(() -> new TimedOut(lock.name, waited, error != null));
      result.completeExceptionally(
          error != null ? error : lock.timeout(maxWait, startNanos, Obstacle.UNKNOWN));
      return;
    }
    engine.time.schedule(delay, () -> engine.work(this::ask));
  }
}
