package io.fenceline.runtime;

import io.fenceline.LockLostException;
import io.fenceline.event.Acquired;
import io.fenceline.event.Contended;
import io.fenceline.event.Endangered;
import io.fenceline.event.HandedOff;
import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.event.Refused;
import io.fenceline.event.Released;
import io.fenceline.event.Renewed;
import io.fenceline.event.StoreFailed;
import io.fenceline.event.TimedOut;
import io.fenceline.spi.Durations;
import io.fenceline.spi.Lane;
import io.fenceline.spi.Time;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells listeners and the log what happens; costs next to nothing while nobody listens. */
final class Events {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline");

  private final List<ListenerQueue> queues;
  private final String store;

  Events(List<LockListener> listeners, Time time, String store) {
    this.queues =
        listeners.stream().map(l -> new ListenerQueue(l, time.lane(Lane.CALLBACK))).toList();
    this.store = store;
  }

  /** An event that is worth making only if someone hears it. */
  void tell(Supplier<LockEvent> event) {
    if (!queues.isEmpty() || LOG.isDebugEnabled()) {
      tell(event.get());
    }
  }

  /** An event that is logged as a warning, or is cheap. */
  void tell(LockEvent event) {
    log(event);
    for (ListenerQueue queue : queues) {
      queue.add(event);
    }
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
      return "Lock '%s' is held by %s; %d wait here (store=%s)"
          .formatted(e.name(), e.holder(), e.localWaiters(), store);
    } else if (event instanceof Refused e) {
      return "Lock '%s' is held by %s; not waiting (store=%s)"
          .formatted(e.name(), e.holder(), store);
    } else if (event instanceof TimedOut e) {
      return "Lock '%s' was not acquired in %s%s (store=%s)"
          .formatted(
              e.name(),
              Durations.show(e.waited()),
              e.storeSilent() ? "; the store gave no answer" : "",
              store);
    } else if (event instanceof StoreFailed e) {
      return "Lock '%s': %s failed: %s (store=%s)"
          .formatted(e.name(), e.operation(), e.cause(), store);
    }
    return event.toString();
  }
}
