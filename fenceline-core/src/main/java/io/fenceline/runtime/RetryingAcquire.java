package io.fenceline.runtime;

import io.fenceline.Held;
import io.fenceline.StoreUnavailableException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous acquire that retries instead of queueing.
 *
 * <p>A store that does not answer is asked again, too, until the time is over.
 */
final class RetryingAcquire<H extends Held> {
  private final Engine engine;
  private final LeaseLock<H> lock;
  private final RetrySchedule retries;
  private final CompletableFuture<H> result = new CompletableFuture<>();
  private volatile @Nullable CompletableFuture<Optional<H>> attempt;

  RetryingAcquire(Engine engine, LeaseLock<H> lock, RetrySchedule retries) {
    this.engine = engine;
    this.lock = lock;
    this.retries = retries;
  }

  CompletableFuture<H> start() {
    result.whenComplete(
        (held, failure) -> {
          if (failure != null) {
            retries.failed(failure);
          }
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
    CompletableFuture<Optional<H>> trying = lock.askOnce(retries.limitOfTry(), retries.watched());
    attempt = trying;
    if (result.isDone()) {
      trying.cancel(false);
    }
    trying.whenComplete(this::answered);
  }

  private void answered(@Nullable Optional<H> held, @Nullable Throwable failure) {
    Throwable error = failure == null ? null : Futures.cause(failure);
    if (held != null && held.isPresent()) {
      if (!result.complete(held.get())) {
        AbstractAcquirable.giveBack(held.get());
      }
    } else if (error == null) {
      retries.refused();
      again();
    } else if (error instanceof StoreUnavailableException silence) {
      retries.notAnswered(silence);
      again();
    } else {
      result.completeExceptionally(error);
    }
  }

  private void again() {
    OptionalLong delay = retries.next();
    if (delay.isPresent()) {
      retries.waits();
      engine.time.schedule(delay.getAsLong(), () -> engine.work(this::ask));
    } else if (!result.isDone()) {
      result.completeExceptionally(lock.gaveUp(retries));
    }
  }
}
