package io.fenceline.jdbc.waiting;

import org.jspecify.annotations.Nullable;

/**
 * Whether a listener hears what this process is told, and whether that can be relied on.
 *
 * <p>Whoever makes room tells the first waiter after that one's claim is in the queue. So a claim
 * that joined while the listener heard, and has heard since, need not look. Where a look finds a
 * turn that nobody was told of, the listener is doubted until it hears something.
 */
final class Hearing {
  private volatile boolean open;
  private volatile boolean doubted;
  private volatile long openings;

  /** It hears from now on; what was sent before may have been missed. */
  void opened() {
    long last = openings; // Only written by the one thread that listens.
    openings = last + 1;
    doubted = false;
    open = true;
  }

  /** It hears no more. Returns whether it did. */
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
