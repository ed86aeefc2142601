package io.fenceline.runtime.notice;

import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events of one listener, told one after another: a slow listener delays only itself. */
final class ListenerQueue {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  private final LockListener listener;
  private final LogQueue log;
  private final Consumer<LockEvent> dropped;
  private final SerialQueue<LockEvent> events;

  ListenerQueue(
      LockListener listener, Executor executor, LogQueue log, Consumer<LockEvent> dropped) {
    this.listener = listener;
    this.log = log;
    this.dropped = dropped;
    this.events = new SerialQueue<>(executor, LockListener.BACKLOG, this::tell);
  }

  void add(LockEvent event) {
    if (!events.add(event)) {
      dropped.accept(event);
    }
  }

  private void tell(LockEvent event, long missed) {
    try {
      if (missed > 0) {
        log.add(
            () -> LOG.warn("A listener was too slow and missed {} events ({})", missed, listener));
      }
      listener.on(event);
    } catch (Throwable e) { // An error of a listener must not keep later events from it.
      log(event, e);
    }
  }

  private void log(LockEvent event, Throwable thrown) {
    try {
      log.add(() -> LOG.warn("A listener failed on {}", event, thrown));
    } catch (Throwable e) {
      // Nor must a log that throws.
    }
  }
}
