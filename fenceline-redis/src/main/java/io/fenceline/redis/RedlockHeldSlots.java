package io.fenceline.redis;

import io.fenceline.spi.Owner;
import io.fenceline.spi.Time;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which permits the holds of this client have, so that they can be given back to a node that forgot
 * them. A hold that ended without a word is forgotten here after its term.
 */
final class RedlockHeldSlots {
  private final Time time;
  private final ConcurrentHashMap<Owner, Entry> byOwner = new ConcurrentHashMap<>();

  private record Entry(RedlockSlots slots, long untilNanos) {}

  RedlockHeldSlots(Time time) {
    this.time = time;
  }

  void put(Owner owner, RedlockSlots slots, Duration term) {
    if (slots.chosen().isEmpty()) {
      return;
    }
    long now = time.nanos();
    byOwner.values().removeIf(entry -> entry.untilNanos - now < 0);
    byOwner.put(owner, new Entry(slots, now + term.toNanos()));
  }

  /** Its lease runs again. */
  void prolong(Owner owner, Duration term) {
    long until = time.nanos() + term.toNanos();
    byOwner.computeIfPresent(owner, (any, entry) -> new Entry(entry.slots, until));
  }

  RedlockSlots get(Owner owner) {
    Entry entry = byOwner.get(owner);
    return entry == null ? RedlockSlots.NONE : entry.slots;
  }

  void remove(Owner owner) {
    byOwner.remove(owner);
  }
}
