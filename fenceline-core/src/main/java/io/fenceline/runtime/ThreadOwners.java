package io.fenceline.runtime;

import io.fenceline.Hold;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Which locks of a client the calling thread owns, and how often. */
final class ThreadOwners {
  /*
   * Thread-local, so that what a thread owns ends with the thread: a thread that has ended can't
   * unlock, and nothing here may keep it, or its hold, reachable.
   */
  @SuppressWarnings("ThreadLocalUsage") // One per client, emptied when nothing is owned.
  private final ThreadLocal<@Nullable Map<Key, Ownership>> owned = new ThreadLocal<>();

  private record Key(String name, boolean shared) {}

  /** A hold that belongs to a thread, and how often the thread has entered it. */
  static final class Ownership {
    final LockHandle hold;
    private final Key key;
    private int exclusive;
    private int shared;

    private Ownership(Key key, LockHandle hold) {
      this.key = key;
      this.hold = hold;
      enter(key.shared);
    }

    void enter(boolean byReader) {
      if (count(byReader) == Integer.MAX_VALUE) {
        throw new Error("Maximum lock count exceeded");
      }
      if (byReader) {
        shared++;
      } else {
        exclusive++;
      }
    }

    /** Takes one entry back; returns whether it was the last one. */
    boolean leave(boolean byReader) {
      if (byReader) {
        shared--;
      } else {
        exclusive--;
      }
      return exclusive == 0 && shared == 0;
    }

    int count(boolean byReader) {
      return byReader ? shared : exclusive;
    }
  }

  /** Returns what the calling thread owns, or null; a reader also owns what it owns as writer. */
  @Nullable Ownership get(String name, boolean shared) {
    Map<Key, Ownership> mine = owned.get(); // A look must not leave a map behind.
    if (mine == null) {
      return null;
    }
    Ownership same = mine.get(new Key(name, shared));
    return same == null && shared ? mine.get(new Key(name, false)) : same;
  }

  void put(String name, boolean shared, Hold hold) {
    LockHandle handle = (LockHandle) hold;
    Map<Key, Ownership> mine = owned.get();
    if (mine == null) {
      mine = new HashMap<>();
      owned.set(mine);
    }
    Key key = new Key(name, shared);
    mine.put(key, new Ownership(key, handle));
    handle.callerHold.bindTo(Thread.currentThread());
  }

  void remove(Ownership ownership) {
    Map<Key, Ownership> mine = owned.get();
    if (mine != null) {
      mine.remove(ownership.key);
      if (mine.isEmpty()) {
        owned.remove();
      }
    }
  }
}
