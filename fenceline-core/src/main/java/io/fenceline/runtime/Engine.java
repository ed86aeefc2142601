package io.fenceline.runtime;

import io.fenceline.ClientClosedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.runtime.notice.Events;
import io.fenceline.spi.AnswerTimeouts;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** What the parts of one client share: its store, its time, and its settings. */
final class Engine {
  final LockStore store;
  final Time time;
  final RandomGenerator random;
  final ClientSettings settings;
  final ClientInfo info;
  final Events events;
  final Observers watchers;
  final Renewer renewer;
  final UnknownOutcomes unknownOutcomes;
  final ClaimQueues queues;

  /** How long the store has for an answer. */
  final long operationNanos;

  private final AnswerTimeouts timeouts;
  // Keyed by number, not by identity, so that they always fail in the same order.
  private final ConcurrentHashMap<Long, CompletableFuture<?>> open = new ConcurrentHashMap<>();
  private final AtomicLong opened = new AtomicLong();
  private volatile boolean closed;

  /** Closed, and all is released; until then answers still count. */
  private volatile boolean ended;

  Engine(
      LockStore store,
      Time time,
      RandomGenerator random,
      ClientSettings settings,
      ClientInfo info) {
    this.store = store;
    this.time = time;
    this.random = random;
    this.settings = settings;
    this.operationNanos = settings.operationTimeout().toNanos();
    this.info = info;
    this.watchers = new Observers(this);
    this.events = new Events(settings.listeners(), time, store.description(), watchers::dropped);
    this.renewer = new Renewer(this);
    this.unknownOutcomes = new UnknownOutcomes(this);
    this.queues = new ClaimQueues(this);
    this.timeouts = new AnswerTimeouts(time, operationNanos);
  }

  void work(Runnable task) {
    time.lane(Lane.WORK).execute(task);
  }

  void callback(Runnable task) {
    time.lane(Lane.CALLBACK).execute(task);
  }

  void onLoss(Runnable task) {
    time.lane(Lane.LOSS).execute(task);
  }

  /** Runs an interrupt, which may take a while, but never waits for other threads. */
  void interrupt(Runnable task) {
    time.lane(Lane.EVENT).execute(task);
  }

  /** Bounds a store's answer: it fails if it is late, or if the client is closed. */
  <T> CompletableFuture<T> answered(CompletableFuture<T> answer, String otherwise) {
    CompletableFuture<T> bounded =
        timeouts.bound(
            answer, () -> new StoreUnavailableException(store.description(), otherwise, null));
    if (ended) {
      failOpen();
    }
    return bounded;
  }

  /** A future that fails when the client is closed, so that nobody waits for it in vain. */
  <T> CompletableFuture<T> untilClosed(CompletableFuture<T> future) {
    if (!future.isDone()) {
      Long key = opened.incrementAndGet();
      open.put(key, future);
      future.whenComplete((value, failure) -> open.remove(key));
      if (ended) {
        failOpen();
      }
    }
    return future;
  }

  /** Fails everything that waits for an answer, now and later: none will come any more. */
  void failOpen() {
    ended = true;
    timeouts.failAll(new ClientClosedException(store.description()));
    for (CompletableFuture<?> future : open.values()) {
      future.completeExceptionally(new ClientClosedException(store.description()));
    }
  }

  /** Returns a future for the user: it completes on a thread where user code may run. */
  <T> CompletableFuture<T> forUser(CompletableFuture<T> inner) {
    return forUser(inner, value -> {});
  }

  /**
   * As above.
   *
   * @param unwanted takes a value that comes after the user's future is complete
   */
  <T> CompletableFuture<T> forUser(CompletableFuture<T> inner, Consumer<? super T> unwanted) {
    if (inner.isDone()) {
      return inner.copy();
    }
    CompletableFuture<T> outer = new CompletableFuture<>();
    inner.whenComplete(
        (value, failure) ->
            callback(
                () -> {
                  if (failure != null) {
                    outer.completeExceptionally(Futures.cause(failure));
                  } else if (!outer.complete(value)) {
                    unwanted.accept(value);
                  }
                }));
    return outer;
  }

  /**
   * Lets the calling thread wait for a while.
   *
   * @throws ClientClosedException if the client is closed meanwhile
   */
  void pause(long nanos) throws InterruptedException {
    CompletableFuture<Void> closing = untilClosed(new CompletableFuture<>());
    Thread waiting = Thread.currentThread();
    closing.whenComplete((value, failure) -> LockSupport.unpark(waiting));
    long end = time.nanos() + nanos;
    try {
      for (long left = nanos; left > 0 && !closing.isDone(); left = end - time.nanos()) {
        time.park(closing, left);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    } finally {
      closing.complete(null);
    }
    checkOpen();
  }

  void checkOpen() {
    if (closed) {
      throw new ClientClosedException(store.description());
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Closes it, once; false if it was closed before. */
  synchronized boolean markClosed() {
    boolean first = !closed;
    closed = true;
    return first;
  }
}
