package io.fenceline.runtime;

import io.fenceline.Hold;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Which thread owns which lock of a client, and how often. Only the thread itself changes that. */
final class ThreadOwners {
  private final ConcurrentHashMap<Key, Ownership> owned = new ConcurrentHashMap<>();

  private record Key(String name, Thread thread) {}

  /** A hold that belongs to a thread. */
  static final class Ownership {
    final LockHandle hold;
    int count = 1;

    Ownership(LockHandle hold) {
      this.hold = hold;
    }
  }

  private static Key key(String name) {
    return new Key(name, Thread.currentThread());
  }

  /** What the calling thread owns, or null. */
  @Nullable Ownership get(String name) {
    return owned.get(key(name));
  }

  void put(String name, Hold hold) {
    LockHandle handle = (LockHandle) hold;
    Thread owner = Thread.currentThread();
    Key key = new Key(name, owner);
    Ownership ownership = new Ownership(handle);
    owned.put(key, ownership);
    handle.stay.bindTo(owner);
    // An owner that ended can't unlock; what it leaves here goes with its lease.
    handle.onLost(
        lost -> {
          if (!owner.isAlive()) {
            owned.remove(key, ownership);
          }
        });
  }

  void remove(String name) {
    owned.remove(key(name));
  }
}
