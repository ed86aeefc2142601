package io.fenceline.runtime;

import io.fenceline.LimitExceededException;
import io.fenceline.StoreRefusedException;
import io.fenceline.event.StoreFailed;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.time.Lane;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats in the background what cleans up at the store, until the store has answered.
 *
 * <p>What may have been granted is repeated also while the store refuses it: where a session keeps
 * it alive, nothing else would end it. Only what is left of a claim that was refused itself is not.
 *
 * <p>What is undone is named by its owner, and that owner is never used again, so an undo can't hit
 * anything else, however late it arrives.
 */
final class CleanupRetries {
  private static final long FIRST_RETRY_NANOS = 100_000_000;
  private static final int DOUBLINGS = 5;

  private final Engine engine;
  private final Set<Undo> pending = new HashSet<>();
  private final AtomicInteger releases = new AtomicInteger();
  private @Nullable CompletableFuture<Void> whenEmpty;

  /** The size of what is pending, for every acquire to look at without a lock. */
  private volatile int size;

  private volatile boolean stopped;

  CleanupRetries(Engine engine) {
    this.engine = engine;
  }

  /** Makes sure that nothing of a claim is left, be it waiting or granted. */
  void undo(ClaimRequest request) {
    prepared(request).run();
  }

  /**
   * As {@link #undo}, in two steps: from now on it is pending, so that a close waits for it; it is
   * sent when what this returns is run, which has to happen.
   */
  Runnable prepared(ClaimRequest request) {
    Undo undo =
        new Undo(
            request.name(),
            StoreOperation.WITHDRAW,
            Long.MAX_VALUE,
            () -> engine.store.withdraw(request));
    add(undo);
    return () -> start(undo);
  }

  /** As {@link #undo}, for a claim that was refused: if this is refused, too, that is all. */
  void undoIfAllowed(ClaimRequest request) {
    Undo undo =
        new Undo(request.name(), StoreOperation.WITHDRAW, 0, () -> engine.store.withdraw(request));
    add(undo);
    start(undo);
  }

  /**
   * Gives a grant back, and repeats it until it is answered. The name has to stay closed for less
   * and less meanwhile: a repeat does not begin that time anew.
   *
   * @param sinceNanos when {@link ReleaseRequest#keepClosed} was computed
   * @return the answer, or a failure if it is given up
   */
  CompletableFuture<Release> releaseAgain(ReleaseRequest request, long sinceNanos) {
    CompletableFuture<Release> answer = new CompletableFuture<>();
    Undo undo =
        new Undo(
            request.grant().claim().name(),
            StoreOperation.RELEASE,
            Long.MAX_VALUE,
            () ->
                engine
                    .store
                    .release(request.after(engine.time.nanos() - sinceNanos))
                    .whenComplete(
                        (release, failure) -> {
                          if (release != null) {
                            answer.complete(release);
                          }
                        }));
    undo.whenGivenUp = answer::completeExceptionally;
    add(undo);
    start(undo);
    return engine.untilClosed(answer);
  }

  /**
   * A caller is about to send a release itself; a close waits for its answer as well. Called before
   * the grant ends, so that a close either sees this or gives the grant back itself.
   */
  void releaseBegun() {
    releases.incrementAndGet();
  }

  /** It was answered, or is pending here. */
  void releaseEnded() {
    if (releases.decrementAndGet() == 0 && engine.isClosed()) {
      completeIfEmpty();
    }
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
          "The store does not answer, or refuses, and this many claims of unknown outcome still have to be withdrawn; no new claims are sent until it works again.");
    }
  }

  /** How much waits to be undone; for tests of what is left behind. */
  synchronized int pending() {
    return pending.size();
  }

  /** Completes when nothing waits to be undone, and no release to be answered. */
  CompletableFuture<Void> whenEmpty() {
    CompletableFuture<Void> empty;
    synchronized (this) {
      if (whenEmpty == null) {
        whenEmpty = new CompletableFuture<>();
      }
      empty = whenEmpty;
    }
    completeIfEmpty();
    return empty;
  }

  private void completeIfEmpty() {
    CompletableFuture<Void> empty;
    synchronized (this) {
      empty = pending.isEmpty() && releases.get() == 0 ? whenEmpty : null;
    }
    if (empty != null) {
      empty.complete(null);
    }
  }

  /** Gives up: the store is being closed, and what is left ends with its lease. */
  void stop() {
    stopped = true;
  }

  private void add(Undo undo) {
    synchronized (this) {
      pending.add(undo);
      size = pending.size();
    }
    undo.told = engine.watchers.undoStarted(undo.name);
  }

  private void start(Undo undo) {
    try {
      engine.time.lane(Lane.UNDO).execute(undo::send);
    } catch (Throwable e) { // What is pending is sent, sooner or later.
      undo.retry(e);
    }
  }

  private void done(Undo undo) {
    synchronized (this) {
      pending.remove(undo);
      size = pending.size();
    }
    LockObserver told = undo.told;
    if (told != null) {
      undo.told = null;
      told.undoEnded(undo.name);
    }
    completeIfEmpty();
  }

  /** One thing to be undone, and how often it was tried. */
  private final class Undo {
    private final String name;
    private final StoreOperation operation;
    private final Supplier<CompletableFuture<?>> request;
    private final long startNanos = engine.time.nanos();
    private final long refusedNanos;
    private Consumer<Throwable> whenGivenUp = failure -> {};
    private int failures;
    private volatile @Nullable LockObserver told;

    /**
     * Not sent yet.
     *
     * @param refusedNanos for how long it is sent again if the store refuses it
     */
    Undo(
        String name,
        StoreOperation operation,
        long refusedNanos,
        Supplier<CompletableFuture<?>> request) {
      this.name = name;
      this.operation = operation;
      this.refusedNanos = refusedNanos;
      this.request = request;
    }

    void send() {
      RequestObservation watch = engine.watchers.request(operation, name);
      CompletableFuture<?> answer;
      try {
        answer = request.get();
      } catch (Throwable e) { // It is pending until it was answered, whatever was thrown.
        answer = CompletableFuture.failedFuture(e);
      }
      CompletableFuture<?> bounded =
          engine.answered(answer, "The " + operation.tag() + " was not answered");
      engine.watchers.sent(watch, bounded);
      bounded.whenComplete(
          (value, failure) -> {
            if (failure == null) {
              done(this);
            } else {
              retry(failure);
            }
          });
    }

    private void retry(Throwable failure) {
      engine.events.tell(() -> new StoreFailed(name, operation.tag(), Futures.unwrapped(failure)));
      boolean isVain =
          Futures.cause(failure) instanceof StoreRefusedException
              && engine.time.nanos() - startNanos >= refusedNanos;
      if (stopped || isVain) {
        done(this);
        whenGivenUp.accept(failure);
        return;
      }
      long delay = FIRST_RETRY_NANOS << Math.min(failures++, DOUBLINGS);
      engine.time.schedule(delay, () -> engine.time.lane(Lane.UNDO).execute(this::send));
    }
  }
}
