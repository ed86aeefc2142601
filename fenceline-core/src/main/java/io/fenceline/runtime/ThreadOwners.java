package io.fenceline.runtime;

import io.fenceline.Hold;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which locks of a client the calling thread owns, and how often. */
final class ThreadOwners {
  /*
   * Thread-local, so that what a thread owns goes with the thread: an owner that ended can't unlock,
   * and nothing here may keep it, or its hold, alive.
   */
  @SuppressWarnings("ThreadLocalUsage") // One for each client, emptied when nothing is owned.
  private final ThreadLocal<Map<String, Ownership>> owned = ThreadLocal.withInitial(HashMap::new);

  /** A hold that belongs to a thread. */
  static final class Ownership {
    final LockHandle hold;
    int count = 1;

    Ownership(LockHandle hold) {
      this.hold = hold;
    }
  }

  /** What the calling thread owns, or null. */
  @Nullable Ownership get(String name) {
    return owned.get().get(name);
  }

  void put(String name, Hold hold) {
    LockHandle handle = (LockHandle) hold;
    owned.get().put(name, new Ownership(handle));
    handle.stay.bindTo(Thread.currentThread());
  }

  void remove(String name) {
    Map<String, Ownership> mine = owned.get();
    mine.remove(name);
    if (mine.isEmpty()) {
      owned.remove();
    }
  }
}
