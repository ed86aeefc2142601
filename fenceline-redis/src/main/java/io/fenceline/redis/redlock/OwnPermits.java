package io.fenceline.redis.redlock;

import io.fenceline.spi.Owner;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What has to be remembered of this client's holds: which permits they have, so that these can be
 * given to a node that lacks them; and whether gifts or claims may be under way, so that none
 * arrives after the hold has ended. A hold that ended without a word is forgotten after its term.
 * Thread-safe.
 */
final class OwnPermits {
  private static final long SWEEP_NANOS = 10_000_000_000L;

  private final Time time;

  // Guarded by this.
  private final Map<Owner, Entry> byOwner = new HashMap<>();
  private long sweptNanos;

  private static final class Entry {
    private PermitSlots slots = PermitSlots.NONE;
    private int renewals;
    private int gifts;
    private boolean strays;
    private @Nullable Runnable stopSending;
    private boolean ended;
    private long untilNanos;

    private Entry(long untilNanos) {
      this.untilNanos = untilNanos;
    }

    /** Never shorter: the hold may have been extended since what this is about was sent. */
    private void lastUntil(long nanos) {
      if (nanos - untilNanos > 0) {
        untilNanos = nanos;
      }
    }

    private boolean isNeeded() {
      return renewals > 0
          || gifts > 0
          || strays
          || stopSending != null
          || !slots.chosen().isEmpty();
    }
  }

  OwnPermits(Time time) {
    this.time = time;
    this.sweptNanos = time.nanos();
  }

  synchronized void won(Owner owner, PermitSlots slots, Duration term) {
    if (!slots.chosen().isEmpty()) {
      entry(owner, term).slots = slots;
    }
  }

  /** The permits of a hold; none if it has none. */
  synchronized PermitSlots slots(Owner owner) {
    Entry entry = byOwner.get(owner);
    return entry == null ? PermitSlots.NONE : entry.slots;
  }

  /** A renewal begins. */
  synchronized void renewing(Owner owner, Duration term) {
    entry(owner, term).renewals++;
  }

  /** A renewal was answered, or failed; if it was made in two rounds, it runs from the second. */
  synchronized void renewed(Owner owner, Duration term) {
    Entry entry = byOwner.get(owner);
    if (entry != null) {
      entry.renewals--;
      entry.lastUntil(time.nanos() + term.toNanos());
      tidy(owner, entry);
    }
  }

  /**
   * A node is about to be given the hold.
   *
   * @return false if the hold has ended meanwhile, and must not be given to anyone
   */
  synchronized boolean giving(Owner owner, Duration term) {
    Entry entry = entry(owner, term);
    if (!entry.ended) {
      entry.gifts++;
    }
    return !entry.ended;
  }

  /** The node has answered: that gift is not under way any more. */
  synchronized void given(Owner owner) {
    Entry entry = byOwner.get(owner);
    if (entry != null) {
      entry.gifts = Math.max(0, entry.gifts - 1); // It may have been forgotten in between.
      tidy(owner, entry);
    }
  }

  /** A claim was sent over a connection that has broken: it may arrive at any time. */
  synchronized void strayed(Owner owner, Duration term) {
    entry(owner, term).strays = true;
  }

  /**
   * A claim has won that not all nodes have answered: one may answer that it does not know the
   * script, and is sent it, unless the hold has ended by then.
   */
  synchronized void unanswered(Owner owner, Duration term, Runnable stopSending) {
    entry(owner, term).stopSending = stopSending;
  }

  /**
   * The hold ends: no node is given it from now on. Its permits are known until {@link #ended}:
   * what ends it may have to be repeated.
   *
   * @return whether a gift or a claim may be under way, which nodes have to turn away
   */
  boolean end(Owner owner) {
    Runnable stopSending;
    boolean underWay;
    synchronized (this) {
      Entry entry = byOwner.get(owner);
      if (entry == null) {
        return false;
      }
      entry.ended = true;
      stopSending = entry.stopSending;
      entry.stopSending = null;
      tidy(owner, entry);
      underWay = entry.gifts > 0 || entry.strays;
    }
    if (stopSending != null) {
      stopSending.run();
    }
    return underWay;
  }

  /** The end was answered: nobody needs the permits any more. */
  synchronized void ended(Owner owner) {
    Entry entry = byOwner.get(owner);
    if (entry != null && entry.ended) {
      entry.slots = PermitSlots.NONE;
      tidy(owner, entry);
    }
  }

  private Entry entry(Owner owner, Duration term) {
    long now = time.nanos();
    if (now - sweptNanos > SWEEP_NANOS) {
      sweptNanos = now;
      byOwner.values().removeIf(entry -> entry.renewals == 0 && entry.untilNanos - now < 0);
    }
    long until = now + term.toNanos();
    Entry entry = byOwner.computeIfAbsent(owner, any -> new Entry(until));
    entry.lastUntil(until);
    return entry;
  }

  private void tidy(Owner owner, Entry entry) {
    if (!entry.isNeeded()) {
      byOwner.remove(owner);
    }
  }
}
