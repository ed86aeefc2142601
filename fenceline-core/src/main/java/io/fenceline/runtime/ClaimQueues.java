package io.fenceline.runtime;

import io.fenceline.ClientClosedException;
import io.fenceline.LimitExceededException;
import io.fenceline.settings.Limits;
import io.fenceline.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The queues of a client, one for each name that is wanted or held now, and how much is in them.
 */
final class ClaimQueues {
  private final Engine engine;
  private final ConcurrentHashMap<String, ClaimQueue> exclusive = new ConcurrentHashMap<>();
  // Keyed by number, not by identity, so that they are always closed in the same order.
  private final ConcurrentHashMap<Long, ClaimQueue> single = new ConcurrentHashMap<>();
  private final AtomicLong entered = new AtomicLong();
  private final AtomicInteger holds = new AtomicInteger();
  private final ConcurrentHashMap<String, Integer> singleWaiting = new ConcurrentHashMap<>();

  ClaimQueues(Engine engine) {
    this.engine = engine;
  }

  /** Adds a waiter to the queue of its name, and returns the queue. */
  ClaimQueue enter(String name, Waiter waiter) {
    try {
      reserveHold();
    } catch (RuntimeException e) {
      waiter.failed(e, engine);
      throw e;
    }
    ClaimQueue entered;
    try {
      entered =
          waiter.terms.mode() instanceof Mode.Exclusive
              ? enterExclusive(name, waiter)
              : enterSingle(name, waiter);
    } catch (RuntimeException | Error e) {
      waiter.failed(e, engine);
      giveUp(waiter);
      throw e;
    }
    if (engine.isClosed()) {
      entered.close(); // The client was closed meanwhile, perhaps without this queue.
    }
    return entered;
  }

  /** Settles a waiter whose caller gets an error, so that it is not granted as well. */
  private void giveUp(Waiter waiter) {
    if (waiter.settle(Waiter.GONE)) {
      dropHold();
      waiter.wake(engine);
    } else if (waiter.outcome() instanceof Handle handle) {
      handle.abandon();
    }
  }

  /** Reserves a place for one more hold; {@link #dropHold} gives it back. */
  private void reserveHold() {
    if (engine.isClosed()) {
      throw new ClientClosedException(engine.store.description());
    }
    Limits limits = engine.settings.limits();
    if (engine.unknownOutcomes.size() >= limits.pendingUndos()) {
      throw new LimitExceededException(
          "pendingUndos",
          limits.pendingUndos(),
          "The store does not answer, or refuses, and this many claims of unknown outcome still have to be withdrawn; no new claims are sent until it works again.");
    }
    if (holds.incrementAndGet() > limits.holds()) {
      holds.decrementAndGet();
      throw new LimitExceededException(
          "holds", limits.holds(), "Release some holds, or raise Limits.holds of this client.");
    }
  }

  void dropHold() {
    holds.decrementAndGet();
  }

  /** How many holds there are, including those that are still being acquired. */
  int holds() {
    return holds.get();
  }

  private ClaimQueue enterExclusive(String name, Waiter waiter) {
    while (true) {
      ClaimQueue queue = exclusive.get(name);
      if (queue == null) {
        queue = exclusive.computeIfAbsent(name, this::newQueue);
      }
      if (queue.enter(waiter)) {
        return queue;
      }
      exclusive.remove(name, queue);
    }
  }

  private ClaimQueue newQueue(String name) {
    ClaimQueue[] self = new ClaimQueue[1];
    self[0] = new ClaimQueue(engine, name, () -> exclusive.remove(name, self[0]));
    return self[0];
  }

  private ClaimQueue enterSingle(String name, Waiter waiter) {
    if (waiter.queues) {
      countSingle(name);
      waiter.whenSettled(() -> uncountSingle(name));
    }
    while (true) {
      Long key = entered.incrementAndGet();
      ClaimQueue queue = new ClaimQueue(engine, name, () -> single.remove(key));
      single.put(key, queue);
      if (queue.enter(waiter)) {
        return queue;
      }
      single.remove(key); // The client is being closed, and retired it while it was empty.
    }
  }

  /** Counts a waiter that has a queue of its own, which therefore can't count it. */
  private void countSingle(String name) {
    int limit = engine.settings.limits().waitersPerName();
    if (singleWaiting.merge(name, 1, Integer::sum) > limit) {
      uncountSingle(name);
      throw new LimitExceededException(
          "waitersPerName", limit, "Too many callers of this client wait for lock '" + name + "'.");
    }
  }

  private void uncountSingle(String name) {
    singleWaiting.computeIfPresent(name, (key, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Returns the grants that this client has of a name. Looks at every shared hold and permit of the
   * client, so it is for callers that have waited in vain, or are about to.
   */
  List<GrantLifecycle> grantsOf(String name) {
    List<GrantLifecycle> found = new ArrayList<>();
    ClaimQueue alone = exclusive.get(name);
    if (alone != null) {
      alone.addGrantOf(name, found);
    }
    single.values().forEach(queue -> queue.addGrantOf(name, found));
    return found;
  }

  void close() {
    List<ClaimQueue> all = new ArrayList<>(exclusive.values());
    all.addAll(single.values());
    RunAll steps = new RunAll();
    all.forEach(queue -> steps.then(queue::close));
    steps.run();
  }

  /** How many there are; for tests that look for leaks. */
  int size() {
    return exclusive.size() + single.size() + singleWaiting.size();
  }
}
