package io.fenceline.runtime.notice;

import io.fenceline.LockLostException;
import io.fenceline.event.Acquired;
import io.fenceline.event.Contended;
import io.fenceline.event.Endangered;
import io.fenceline.event.HandedOff;
import io.fenceline.event.HeldTooLong;
import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.event.Refused;
import io.fenceline.event.Released;
import io.fenceline.event.Renewed;
import io.fenceline.event.StoreFailed;
import io.fenceline.event.TimedOut;
import io.fenceline.settings.Durations;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners and the log what happens; costs next to nothing while nobody listens. */
public final class Events {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  private final List<ListenerQueue> queues;
  private final LogQueue log;
  private final String store;

  /**
   * Makes a queue for each listener.
   *
   * @param dropped is called with each event that a listener misses
   */
  public Events(
      List<LockListener> listeners, Time time, String store, Consumer<LockEvent> dropped) {
    // A lane of its own: callbacks and loss listeners may block all threads of their lanes for
    // ever.
    this.log = new LogQueue(time.lane(Lane.EVENT));
    this.queues =
        listeners.stream()
            .map(l -> new ListenerQueue(l, time.lane(Lane.EVENT), log, dropped))
            .toList();
    this.store = store;
  }

  /** Whether there are listeners, or the log shows more than warnings. */
  public boolean areHeard() {
    return !queues.isEmpty() || LOG.isDebugEnabled();
  }

  /** Tells an event that is made only if someone listens. */
  public void tell(Supplier<LockEvent> event) {
    if (areHeard()) {
      tell(event.get());
    }
  }

  /** Tells an event that is a warning, or cheap to make: listeners first, as the log may block. */
  public void tell(LockEvent event) {
    for (ListenerQueue queue : queues) {
      queue.add(event);
    }
    if (isWarning(event) || LOG.isDebugEnabled()) {
      log.add(() -> log(event));
    }
  }

  /** Logs that user code failed, or that the client did. */
  public void warn(String format, Object... values) {
    log.add(() -> LOG.warn(format, values));
  }

  private static boolean isWarning(LockEvent event) {
    return event instanceof Lost
        || event instanceof Leaked
        || event instanceof Endangered
        || event instanceof HeldTooLong;
  }

  private void log(LockEvent event) {
    if (event instanceof Lost e) {
      LOG.warn(
          "{} (id={})",
          LockLostException.message(
              e.name(), e.token(), e.reason(), e.sinceRenewal(), e.lease(), store),
          e.id());
    } else if (event instanceof Leaked e) {
      LOG.warn(
          "Lock '{}' leaked: {}; it is no longer renewed (id={}, token={}, lease={}, store={})",
          e.name(),
          e.cause().meaning(),
          e.id(),
          e.token(),
          Durations.show(e.lease()),
          store,
          e.acquiredAt());
    } else if (event instanceof Endangered e) {
      LOG.warn(
          "Lock '{}' is endangered: a renewal failed, {} are left (id={}, token={}, cause={}, store={})",
          e.name(),
          Durations.show(e.remaining()),
          e.id(),
          e.token(),
          e.cause(),
          store);
    } else if (event instanceof HeldTooLong e) {
      LOG.warn(
          "Lock '{}' is still held after {} (id={}, token={}, since={}, thread={}, store={})",
          e.name(),
          Durations.show(e.held()),
          e.id(),
          e.token(),
          e.since(),
          e.thread(),
          store,
          e.acquiredAt());
    } else if (LOG.isDebugEnabled()) {
      LOG.debug("{}", line(event));
    }
  }

  private String line(LockEvent event) {
    if (event instanceof Acquired e) {
      return "Lock '%s' acquired (id=%s, token=%d, lease=%s, waited=%s, roundTrip=%s, store=%s)"
          .formatted(
              e.name(),
              e.id(),
              e.token(),
              Durations.show(e.lease()),
              Durations.show(e.waited()),
              Durations.show(e.roundTrip()),
              store);
    } else if (event instanceof HandedOff e) {
      return "Lock '%s' handed off (id=%s, token=%d, lease=%s, handOff=%d, waited=%s, store=%s)"
          .formatted(
              e.name(),
              e.id(),
              e.token(),
              Durations.show(e.lease()),
              e.handOff(),
              Durations.show(e.waited()),
              store);
    } else if (event instanceof Released e) {
      return "Lock '%s' released: %s (id=%s, token=%d, lease=%s, held=%s, store=%s)"
          .formatted(
              e.name(),
              e.outcome(),
              e.id(),
              e.token(),
              Durations.show(e.lease()),
              Durations.show(e.held()),
              store);
    } else if (event instanceof Renewed e) {
      return "Lock '%s' renewed (id=%s, token=%d, remaining=%s, store=%s)"
          .formatted(e.name(), e.id(), e.token(), Durations.show(e.remaining()), store);
    } else if (event instanceof Contended e) {
      return "Lock '%s' is held%s; %d waiting in this client (store=%s)"
          .formatted(e.name(), by(e.holder()), e.localWaiters(), store);
    } else if (event instanceof Refused e) {
      return "Lock '%s' is held%s; not waiting (store=%s)"
          .formatted(e.name(), by(e.holder()), store);
    } else if (event instanceof TimedOut e) {
      return "Lock '%s' was not acquired in %s%s (store=%s)"
          .formatted(
              e.name(),
              Durations.show(e.waited()),
              e.storeSilent() ? "; the store did not answer, or could not work" : "",
              store);
    } else if (event instanceof StoreFailed e) {
      return "Lock '%s': %s failed: %s (store=%s)"
          .formatted(e.name(), e.operation(), e.cause(), store);
    }
    return event.toString();
  }

  /** Not every store knows who holds a name, nor does this client while it is still asking. */
  private static String by(@Nullable String holder) {
    return holder == null ? "" : " by " + holder;
  }
}
