package io.fenceline.testkit.contract;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.LockReport;
import java.util.Optional;

/** One process of a test: a client, its way to the store, and what it heard. */
record Peer(String label, Fenceline fenceline, LossyStore store, EventLog events) {

  FencedLock lock(String name) {
    return fenceline.lock(name);
  }

  FencedLock lock(String name, LockOptions options) {
    return fenceline.lock(name, options);
  }

  /** Takes a lock that must be free. */
  Hold take(String name) {
    return lock(name).tryAcquire().orElseThrow(() -> new AssertionError(notFree(name)));
  }

  /** Takes a lock that must be free. */
  Hold take(String name, LockOptions options) {
    return lock(name, options).tryAcquire().orElseThrow(() -> new AssertionError(notFree(name)));
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
