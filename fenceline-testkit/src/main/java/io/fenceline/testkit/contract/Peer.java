package io.fenceline.testkit.contract;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.LockReport;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * One process of a test: a client, its way to the store, and what it heard.
 *
 * @param taken what it has taken, so that a hold that a test does not keep is not collected: it
 *     would no longer be renewed, and be lost on a machine that is slow enough
 */
record Peer(
    String label, Fenceline fenceline, LossyStore store, EventLog events, Queue<Hold> taken) {

  Peer(String label, Fenceline fenceline, LossyStore store, EventLog events) {
    this(label, fenceline, store, events, new ConcurrentLinkedQueue<>());
  }

  FencedLock lock(String name) {
    return fenceline.lock(name);
  }

  FencedLock lock(String name, LockOptions options) {
    return fenceline.lock(name, options);
  }

  /** Takes a lock that must be free. */
  Hold take(String name) {
    return kept(name, lock(name));
  }

  /** Takes a lock that must be free. */
  Hold take(String name, LockOptions options) {
    return kept(name, lock(name, options));
  }

  private Hold kept(String name, FencedLock lock) {
    Hold hold = lock.tryAcquire().orElseThrow(() -> new AssertionError(notFree(name)));
    taken.add(hold);
    return hold;
  }

  private String notFree(String name) {
    return "'" + name + "' is not free for " + label + ": " + fenceline.inspect(name);
  }

  Optional<Hold> tryTake(String name) {
    return lock(name).tryAcquire();
  }

  LockReport inspect(String name) {
    return fenceline.inspect(name);
  }

  /** Ends like a process that was killed. */
  void vanish() {
    store.vanish();
  }
}
