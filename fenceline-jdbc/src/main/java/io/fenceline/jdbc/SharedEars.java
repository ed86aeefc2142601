package io.fenceline.jdbc;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One pair of ears for all clients of this process that would hear the same: a hundred clients that
 * wait for a name are woken by one message, not each by its own.
 */
final class SharedEars implements Ears {
  // Guarded by itself.
  private static final Map<Object, Use> USED = new HashMap<>();

  private final Object key;
  private final Ears ears;
  private boolean closed; // Guarded by USED.

  private static final class Use {
    final Ears ears;
    int count;

    Use(Ears ears) {
      this.ears = ears;
    }
  }

  private SharedEars(Object key, Ears ears) {
    this.key = key;
    this.ears = ears;
  }

  /**
   * Those that are in use by this key, or new ones.
   *
   * @param key what is heard, and how
   */
  static Ears of(Object key, Supplier<Ears> fresh) {
    synchronized (USED) {
      Use use = USED.computeIfAbsent(key, any -> new Use(fresh.get()));
      use.count++;
      return new SharedEars(key, use.ears);
    }
  }

  @Override
  public void start() {
    ears.start();
  }

  @Override
  public boolean isHearing() {
    return ears.isHearing();
  }

  @Override
  public void close() {
    synchronized (USED) {
      Use use = USED.get(key);
      if (closed || use == null) {
        return;
      }
      closed = true;
      use.count--;
      if (use.count > 0) {
        return;
      }
      USED.remove(key);
    }
    ears.close();
  }
}
