package io.fenceline.runtime;

import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.PlainText;
import io.fenceline.event.StoreFailed;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.settings.Durations;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.time.Lane;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Withdraws claims and repeats releases whose outcome is unknown, in the background, until the
 * store has answered.
 *
 * <p>It repeats the undo of a possible grant even while the store refuses it: on a session, nothing
 * else would end that grant. It does not repeat the undo of a claim that the store had refused.
 *
 * <p>An undo names the owner of the claim, and an owner is never used again, so an undo can't hit
 * anything else, however late it arrives.
 */
final class UnknownOutcomes {
  private static final long FIRST_RETRY_NANOS = 100_000_000;
  private static final int DOUBLINGS = 5;

  /** Whoever waits for a name that is not given back for so long will want to know why. */
  private static final long LATE_NANOS = 5_000_000_000L;

  private final Engine engine;
  private final Set<Undo> pending = new HashSet<>();
  private final AtomicInteger releases = new AtomicInteger();
  private @Nullable CompletableFuture<Void> whenEmpty;

  /** How many are pending; every acquire reads it, without a lock. */
  private volatile int size;

  private volatile boolean stopped;

  UnknownOutcomes(Engine engine) {
    this.engine = engine;
  }

  /** Makes sure that nothing is left of a claim, neither a place in the queue nor a grant. */
  void undo(ClaimRequest request) {
    prepared(request).run();
  }

  /**
   * As {@link #undo}, in two steps: from now on it is pending, so that a close waits for it; the
   * returned task sends it, and must be run.
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

  /** As {@link #undo}, for a claim that was refused: ends if the store refuses the undo, too. */
  void undoIfAllowed(ClaimRequest request) {
    Undo undo =
        new Undo(request.name(), StoreOperation.WITHDRAW, 0, () -> engine.store.withdraw(request));
    add(undo);
    start(undo);
  }

  /**
   * Releases a grant, again and again until it is answered. The time for which the name must stay
   * closed goes on meanwhile: a repeat does not start it again.
   *
   * @param sinceNanos when {@link ReleaseRequest#keepClosed} was computed
   * @return the answer, or a failure if this gives up
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
   * Counts a release that a caller is about to send; a close waits for its answer as well. Called
   * before the grant ends, so that a close either sees this or releases the grant itself.
   */
  void releaseBegun() {
    releases.incrementAndGet();
  }

  /** Counts it down: it was answered, or is pending here now. */
  void releaseEnded() {
    if (releases.decrementAndGet() == 0 && engine.isClosed()) {
      completeIfEmpty();
    }
  }

  /** How many are pending. */
  int size() {
    return size;
  }

  /** Completes when no undo is pending and no release waits for its answer. */
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
    } catch (Throwable e) { // Whatever is pending must be sent sooner or later.
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

  /** A withdrawal or a release, repeated until it is answered. */
  private final class Undo {
    private final String name;
    private final StoreOperation operation;
    private final Supplier<CompletableFuture<?>> request;
    private final long startNanos = engine.time.nanos();
    private final long refusedNanos;
    private Consumer<Throwable> whenGivenUp = failure -> {};
    private int failures;
    private boolean warned;
    private volatile @Nullable LockObserver told;

    /**
     * Creates one that is not sent yet.
     *
     * @param refusedNanos for how long it is repeated if the store refuses it
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
      } catch (Throwable e) { // Whatever was thrown, it is pending until it is answered.
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
      warnIfLate(failure);
    }

    /**
     * Others see a name that nobody seems to use, and this process is the only one that knows why.
     */
    private void warnIfLate(Throwable failure) {
      long nanos = engine.time.nanos() - startNanos;
      if (warned || operation != StoreOperation.RELEASE || nanos < LATE_NANOS) {
        return;
      }
      warned = true;
      engine.events.warn(
          "Lock '{}' is still not given back: its release has failed for {} (repeats={}, cause={},"
              + " store={}). Whoever waits gets it when the store answers, or when the lease is over.",
          name,
          Durations.show(Duration.ofNanos(nanos)),
          failures,
          PlainText.of(String.valueOf(Futures.unwrapped(failure).getMessage())),
          engine.store.description());
    }
  }
}
