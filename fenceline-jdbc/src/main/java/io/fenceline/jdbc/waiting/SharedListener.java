package io.fenceline.jdbc.waiting;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One pair of ears for all clients of this process that would hear the same: a hundred clients that
 * wait for a name are woken by one message, not each by its own.
 */
public final class SharedListener implements NotificationListener {
  // Guarded by itself.
  private static final Map<Object, Use> USED = new HashMap<>();

  private final Object key;
  private final NotificationListener ears;
  private boolean closed; // Guarded by USED.

  private static final class Use {
    final NotificationListener ears;
    int count;

    Use(NotificationListener ears) {
      this.ears = ears;
    }
  }

  private SharedListener(Object key, NotificationListener ears) {
    this.key = key;
    this.ears = ears;
  }

  /**
   * Those that are in use by this key, or new ones.
   *
   * @param key what is heard, and how
   */
  public static NotificationListener of(Object key, Supplier<NotificationListener> fresh) {
    synchronized (USED) {
      Use use = USED.computeIfAbsent(key, any -> new Use(fresh.get()));
      use.count++;
      return new SharedListener(key, use.ears);
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
  public @Nullable ArmedBell watch() {
    return ears.watch();
  }

  @Override
  public boolean covers(ArmedBell watch) {
    return ears.covers(watch);
  }

  @Override
  public void doubt() {
    ears.doubt();
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
