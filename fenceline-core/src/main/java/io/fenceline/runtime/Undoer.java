package io.fenceline.runtime;

import io.fenceline.LimitExceededException;
import io.fenceline.event.StoreFailed;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Lane;
import io.fenceline.spi.ReleaseRequest;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats in the background what cleans up at the store, until the store has answered.
 *
 * <p>What is undone is named by its owner, and that owner is never used again, so an undo can't hit
 * anything else, however late it arrives.
 */
final class Undoer {
  private static final long FIRST_RETRY_NANOS = 100_000_000;
  private static final int DOUBLINGS = 5;

  private final Engine engine;
  private final Set<Undo> pending = new HashSet<>();
  private @Nullable CompletableFuture<Void> whenEmpty;

  /** The size of what is pending, for every acquire to look at without a lock. */
  private volatile int size;

  private volatile boolean stopped;

  Undoer(Engine engine) {
    this.engine = engine;
  }

  /** Makes sure that nothing of a claim is left, be it waiting or granted. */
  void undo(ClaimRequest request) {
    start(request.name(), "withdraw", () -> engine.store.withdraw(request));
  }

  /** Gives a grant back whose release was not answered. */
  void releaseAgain(ReleaseRequest request) {
    start(request.grant().claim().name(), "release", () -> engine.store.release(request));
  }

  /**
   * Fails if too much is waiting to be undone.
   *
   * @throws LimitExceededException then
   */
  void checkRoom() {
    int limit = engine.settings.limits().pendingUndos();
    if (size >= limit) {
      throw new LimitExceededException(
          "pendingUndos",
          limit,
          "The store has not answered for long; new claims would only add to what is undone later.");
    }
  }

  /** How much waits to be undone; for tests of what is left behind. */
  synchronized int pending() {
    return pending.size();
  }

  /** Completes when nothing waits to be undone. */
  synchronized CompletableFuture<Void> whenEmpty() {
    if (whenEmpty == null) {
      whenEmpty = new CompletableFuture<>();
    }
    if (pending.isEmpty()) {
      whenEmpty.complete(null);
    }
    return whenEmpty;
  }

  /** Gives up: the store is being closed, and what is left ends with its lease. */
  void stop() {
    stopped = true;
  }

  private void start(String name, String operation, Supplier<CompletableFuture<?>> request) {
    Undo undo = new Undo(name, operation, request);
    synchronized (this) {
      pending.add(undo);
      size = pending.size();
    }
    engine.time.lane(Lane.UNDO).execute(undo::send);
  }

  private void done(Undo undo) {
    CompletableFuture<Void> empty = null;
    synchronized (this) {
      pending.remove(undo);
      size = pending.size();
      if (pending.isEmpty()) {
        empty = whenEmpty;
      }
    }
    if (empty != null) {
      empty.complete(null);
    }
  }

  /** One thing to be undone, and how often it was tried. */
  private final class Undo {
    private final String name;
    private final String operation;
    private final Supplier<CompletableFuture<?>> request;
    private int failures;

    Undo(String name, String operation, Supplier<CompletableFuture<?>> request) {
      this.name = name;
      this.operation = operation;
      this.request = request;
    }

    void send() {
      CompletableFuture<?> answer;
      try {
        answer = request.get();
      } catch (RuntimeException e) {
        answer = CompletableFuture.failedFuture(e);
      }
      engine
          .answered(answer, "The " + operation + " was not answered")
          .whenComplete(
              (value, failure) -> {
                if (failure == null) {
                  done(this);
                } else {
                  retry(failure);
                }
              });
    }

    private void retry(Throwable failure) {
      engine.events.tell(() -> new StoreFailed(name, operation, Futures.unwrapped(failure)));
      if (stopped) {
        done(this);
        return;
      }
      long delay = FIRST_RETRY_NANOS << Math.min(failures++, DOUBLINGS);
      engine.time.schedule(delay, () -> engine.time.lane(Lane.UNDO).execute(this::send));
    }
  }
}
