package io.fenceline.runtime;

import io.fenceline.LimitExceededException;
import io.fenceline.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The queues of a client: one for each name that is wanted or held now, and none for any other. */
final class Queues {
  private final Engine engine;
  private final ConcurrentHashMap<String, ClaimQueue> exclusive = new ConcurrentHashMap<>();
  // By number, not by identity: what order they are closed in must not depend on addresses.
  private final ConcurrentHashMap<Long, ClaimQueue> single = new ConcurrentHashMap<>();
  private final AtomicLong entered = new AtomicLong();
  private final ConcurrentHashMap<String, Integer> singleWaiting = new ConcurrentHashMap<>();

  Queues(Engine engine) {
    this.engine = engine;
  }

  /** Lets a waiter into the queue of its name, and gives the queue. */
  ClaimQueue enter(String name, Waiter waiter) {
    try {
      engine.reserveHold();
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
      entered.close(); // The client was closed meanwhile, and may not have seen this one.
    }
    return entered;
  }

  /** The caller hears why, and must not be served as well. */
  private void giveUp(Waiter waiter) {
    if (waiter.settle(Waiter.GONE)) {
      engine.dropHold();
      waiter.wake(engine);
    } else if (waiter.outcome() instanceof Handle handle) {
      handle.abandon();
    }
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
      single.remove(key); // The client is being closed, and found it before anyone was in it.
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
   * What this client has of a name. Looks at each shared hold and permit that there is, so it is
   * for callers that have waited in vain, or are about to.
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
    Steps steps = new Steps();
    all.forEach(queue -> steps.then(queue::close));
    steps.run();
  }

  /** How many there are; for tests of what is left behind. */
  int size() {
    return exclusive.size() + single.size() + singleWaiting.size();
  }
}
