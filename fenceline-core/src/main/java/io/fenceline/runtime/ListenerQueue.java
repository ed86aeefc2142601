package io.fenceline.runtime;

import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events of one listener, told one after another, so that a slow one delays only itself. */
final class ListenerQueue {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  private final LockListener listener;
  private final Executor executor;
  private final ArrayDeque<LockEvent> waiting = new ArrayDeque<>();
  private boolean draining;
  private long missed;

  ListenerQueue(LockListener listener, Executor executor) {
    this.listener = listener;
    this.executor = executor;
  }

  void add(LockEvent event) {
    synchronized (waiting) {
      if (waiting.size() >= LockListener.BACKLOG) {
        missed++;
        return;
      }
      waiting.add(event);
      if (draining) {
        return;
      }
      draining = true;
    }
    executor.execute(this::drain);
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
      if (missedNow > 0) {
        LOG.warn("A listener was too slow and missed {} events ({})", missedNow, listener);
      }
      try {
        listener.on(event);
      } catch (Throwable e) { // An error of a listener must not end the telling.
        LOG.warn("A listener failed on {}", event, e);
      }
    }
  }
}
