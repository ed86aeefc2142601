package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.Nullable;

/**
 * Whether ears that are told by id hear, and whether all that is told can be relied on to be heard.
 *
 * <p>Whoever makes room tells the first who waits after the claim of that one is in the queue. So a
 * claim that joined while the ears heard, and have heard since, need not look. What is told all the
 * same in vain is found by a look; from then on the ears are doubted, until they hear something.
 */
final class Hearing {
  private volatile boolean open;
  private volatile boolean doubted;
  private volatile long openings;

  /** They hear from now on; what was said before may have been missed. */
  void opened() {
    long last = openings; // Only written by the one thread that listens.
    openings = last + 1;
    doubted = false;
    open = true;
  }

  /** They don't any more; gives whether they did. */
  boolean closed() {
    boolean before = open;
    open = false;
    return before;
  }

  void heard() {
    doubted = false;
  }

  void doubt() {
    doubted = true;
  }

  boolean isReliable() {
    return open && !doubted;
  }

  @Nullable ArmedBell watch() {
    long now = openings;
    return isReliable() ? ArmedBell.open(now) : null;
  }

  boolean covers(ArmedBell watch) {
    return isReliable() && watch.covers(openings);
  }
}
