package io.fenceline.runtime;

import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events of one listener, told one after another, so that a slow one delays only itself. */
final class ListenerQueue {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  private final LockListener listener;
  private final Executor executor;
  private final LogQueue log;
  private final Consumer<LockEvent> dropped;
  private final ArrayDeque<LockEvent> waiting = new ArrayDeque<>();
  private boolean draining;
  private long missed;

  ListenerQueue(
      LockListener listener, Executor executor, LogQueue log, Consumer<LockEvent> dropped) {
    this.listener = listener;
    this.executor = executor;
    this.log = log;
    this.dropped = dropped;
  }

  void add(LockEvent event) {
    boolean full;
    synchronized (waiting) {
      full = waiting.size() >= LockListener.BACKLOG;
      if (full) {
        missed++;
      } else {
        waiting.add(event);
        if (draining) {
          return;
        }
        draining = true;
      }
    }
    if (full) {
      dropped.accept(event);
    } else {
      start();
    }
  }

  /** Never throws: whoever tells of something has more important things to do afterwards. */
  private void start() {
    try {
      executor.execute(this::drain);
    } catch (Throwable e) {
      synchronized (waiting) {
        draining = false; // It waits for the next event, which tries again.
      }
    }
  }

  private void drain() {
    while (true) {
      LockEvent event;
      long missedNow;
      synchronized (waiting) {
        event = waiting.poll();
        missedNow = missed;
        missed = 0;
        if (event == null) {
          draining = false;
          return;
        }
      }
      try {
        if (missedNow > 0) {
          log.add(
              () ->
                  LOG.warn(
                      "A listener was too slow and missed {} events ({})", missedNow, listener));
        }
        listener.on(event);
      } catch (Throwable e) { // An error of a listener must not end the telling.
        log(event, e);
      }
    }
  }

  private void log(LockEvent event, Throwable thrown) {
    try {
      log.add(() -> LOG.warn("A listener failed on {}", event, thrown));
    } catch (Throwable e) {
      // Nor must a log that can't be reached.
    }
  }
}
