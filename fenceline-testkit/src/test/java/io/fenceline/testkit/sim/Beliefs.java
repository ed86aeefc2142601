package io.fenceline.testkit.sim;

import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.settings.HandOff;
import io.fenceline.spi.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the callers believe, compared after each step with what the server has.
 *
 * <p>It asks a hold only while its lease must still run: after the deadline the question itself
 * would make the hold notice its loss, and a timer that never fires would go unseen.
 */
final class Beliefs {
  /** What a wall clock, read in whole milliseconds and without a margin, may be wrong by. */
  private static final long WALL_ROUNDING_NANOS = 2 * World.MILLI;

  private final World world;
  private final Server server;
  private final History history;
  private final List<Belief> open = new ArrayList<>();
  private final Map<String, List<Belief>> byName = new HashMap<>();
  private final Map<String, Set<Long>> tokens = new HashMap<>();
  private final Map<String, Belief> firstOfGrant = new HashMap<>();

  Beliefs(World world, Server server, History history) {
    this.world = world;
    this.server = server;
    this.history = history;
    history.tell(this);
  }

  // What callers tell. --------------------------------------------------------------------------

  /** A caller was handed a hold. */
  void begin(Belief belief, HandOff bounds) {
    List<Belief> before = byName.computeIfAbsent(belief.name, name -> new ArrayList<>());
    boolean exempt = belief.grant.exempt != null || history.tokensMayFall();
    if (!tokens.computeIfAbsent(belief.name, name -> new HashSet<>()).add(belief.token)
        && !exempt) {
      throw world.violated(Invariant.I3, belief + ": its token was given out before");
    }
    for (Belief earlier : before) {
      boolean above = belief.token > earlier.token;
      if (!above && !exempt && conflict(belief, earlier) && belief.held.isValid()) {
        throw world.violated(Invariant.I3, belief + " is not above the earlier " + earlier);
      }
    }
    checkHandOff(belief, bounds);
    boolean late = world.now() - belief.sinceNanos > 4 * Machine.LATEST_NANOS;
    boolean ended = exempt || late || belief.closedByClient;
    if (belief.handOff() > 0 && !ended && !belief.held.isValid()) {
      throw world.violated(Invariant.I6, belief + " was over when it was handed on");
    }
    before.add(belief);
    open.add(belief);
  }

  /** A client was told that a grant is gone: by now its hold must know. */
  void told(Machine machine, String id, long number) {
    for (Belief belief : open) {
      if (belief.machine == machine
          && belief.id.equals(id)
          && belief.number() == number
          && belief.held.isValid()) {
        throw world.violated(Invariant.I6, belief + " is valid though the server said it is gone");
      }
    }
  }

  /** Whether any caller was handed a hold of this grant. */
  boolean wasHad(String id) {
    return firstOfGrant.containsKey(id);
  }

  private void checkHandOff(Belief belief, HandOff bounds) {
    Belief first = firstOfGrant.putIfAbsent(belief.id, belief);
    if (belief.handOff() == 0) {
      return;
    }
    world.tally.add(Count.HAND_OFFS);
    if (belief.handOff() > bounds.times()) {
      throw world.violated(
          Invariant.I7, belief + " was handed on more than " + bounds.times() + " times");
    }
    // The clocks may have been set; otherwise both give whole milliseconds of the same one.
    long after = first == null ? 0 : belief.acquiredWallMillis - first.acquiredWallMillis;
    if (belief.machine.clockSlackNanos() == 0 && after > bounds.within().toMillis() + 1) {
      throw world.violated(
          Invariant.I7,
          belief + " was handed on later than " + bounds.within() + " after " + first);
    }
  }

  private static boolean conflict(Belief a, Belief b) {
    return (a.mode instanceof Mode.Exclusive && !(b.mode instanceof Mode.Permits))
        || (b.mode instanceof Mode.Exclusive && !(a.mode instanceof Mode.Permits));
  }

  /** A caller is about to release. */
  void releasing(Belief belief) {
    belief.releasedWhileValid =
        belief.signalled == null
            && belief.endedReal < 0
            && belief.machine.nanos() < belief.deadlineLocal;
    belief.releaseCalled = true;
    if (belief.endedReal < 0) {
      belief.endedReal = world.now();
    }
  }

  /** The release has answered. */
  void released(Belief belief, ReleaseOutcome outcome) {
    belief.outcome = outcome;
    switch (outcome) {
      case RELEASED -> world.tally.add(Count.RELEASES);
      case ALREADY_LOST -> world.tally.add(Count.RELEASES_TOO_LATE);
      case UNKNOWN -> world.tally.add(Count.UNKNOWN_RELEASES);
    }
    if (belief.held.isValid()) {
      throw world.violated(Invariant.I2, belief + " is valid after its release");
    }
    if (outcome == ReleaseOutcome.RELEASED && belief.signalled != null) {
      throw world.violated(Invariant.I6, belief + " was lost, and its release said RELEASED");
    }
    if (outcome == ReleaseOutcome.RELEASED && !belief.releasedWhileValid) {
      throw world.violated(Invariant.I6, belief + " was invalid, and its release said RELEASED");
    }
  }

  /** A loss listener was called. */
  void lost(Belief belief, LossReason reason) {
    if (belief.outcome == ReleaseOutcome.RELEASED) {
      throw world.violated(Invariant.I6, belief + " was signalled as lost after its release");
    }
    if (belief.signalled != null) {
      throw world.violated(Invariant.I6, belief + " was signalled as lost twice");
    }
    if (belief.held.isValid()) {
      throw world.violated(Invariant.I6, belief + " was signalled as lost while it was valid");
    }
    belief.signalled = reason;
    if (belief.endedReal < 0) {
      belief.endedReal = world.now();
    }
    world.tally.add(
        switch (reason) {
          case EXPIRED -> Count.LOSSES_BY_EXPIRY;
          case GONE -> Count.LOSSES_AT_THE_STORE;
          case CLIENT_CLOSED -> Count.LOSSES_BY_CLOSE;
        });
  }

  /** All holds of a client that is being closed are to be signalled as lost. */
  void closing(Machine machine) {
    for (Belief belief : open) {
      if (belief.machine == machine && belief.isOpen()) {
        belief.closedByClient = true;
      }
    }
  }

  /** Holds that were valid when the client was closed, and were not signalled as lost. */
  void closed(Machine machine) {
    for (Belief belief : open) {
      if (belief.machine == machine && belief.closedByClient && belief.held.isValid()) {
        throw world.violated(Invariant.I2, belief + " is valid after its client was closed");
      }
    }
  }

  // After each step. ----------------------------------------------------------------------------

  void check() {
    for (Iterator<Belief> all = open.iterator(); all.hasNext(); ) {
      Belief belief = all.next();
      if (belief.machine.isDead() || (!belief.isOpen() && belief.machine.isRunning())) {
        all.remove();
      } else if (belief.machine.isRunning()) {
        check(belief);
      }
    }
  }

  /** Asks a hold that its caller does not keep until the end of the step. */
  void ask(Belief belief) {
    if (belief.machine.isRunning()) {
      check(belief);
    }
  }

  private void check(Belief belief) {
    Machine machine = belief.machine;
    long local = machine.nanos();
    if (local < belief.deadlineLocal || !belief.asked) {
      belief.asked = true;
      long left = belief.held.remaining().toNanos();
      belief.everValid |= left > 0;
      if (left == 0) {
        ended(belief, local);
        return;
      }
      belief.deadlineLocal = local + left;
      // After a sleep it may be the wall clock that ends it, which does not drift.
      belief.deadlineReal = world.now() + (machine.wasSuspended() ? left : machine.real(left));
      covered(belief);
    } else if (belief.endedReal < 0) {
      ended(belief, belief.deadlineLocal);
      belief.endedReal = belief.deadlineReal;
    }
    // A timer runs by one clock only; what another one has ended is signalled a little later.
    long latest = belief.deadlineLocal + 2 * Machine.LATEST_NANOS + machine.clockSlackNanos();
    if (local > latest && machine.ranSince(machine.real(2 * Machine.LATEST_NANOS))) {
      throw world.violated(
          Invariant.I6,
          belief + " ended " + (local - belief.deadlineLocal) / 1_000 + "us ago, unsignalled");
    }
  }

  private void ended(Belief belief, long deadlineLocal) {
    belief.deadlineLocal = deadlineLocal;
    if (belief.endedReal < 0) {
      belief.endedReal = world.now();
    }
  }

  /** I2: by the server's clock, the lease runs for as long as the hold will believe. */
  private void covered(Belief belief) {
    History.Granted grant = belief.grant;
    if (grant.exempt != null) {
      return;
    }
    if (!grant.live || grant.released) {
      throw world.violated(Invariant.I2, belief + " is valid, but the server has ended " + grant);
    }
    long covered = server.realTimeOf(grant.endMillis - belief.delay.toMillis());
    long rounding = belief.machine.wasSuspended() ? WALL_ROUNDING_NANOS : 0;
    if (belief.deadlineReal > covered + rounding) {
      throw world.violated(
          Invariant.I2,
          belief
              + " believes for "
              + (belief.deadlineReal - covered) / 1_000
              + "us longer than the server keeps it");
    }
  }

  // What the server does. -----------------------------------------------------------------------

  /** A name was granted: whoever had it before must have had its delay, or its time. */
  void granted(History.Granted granted) {
    for (Belief belief : byName.getOrDefault(granted.name, List.of())) {
      if (belief.id.equals(granted.id)
          || belief.grant.exempt != null
          || !conflicts(belief.mode, granted.mode)) {
        continue;
      }
      if (belief.outcome == ReleaseOutcome.RELEASED && belief.machine.clockSlackNanos() == 0) {
        tooEarly(belief, granted, belief.sinceNanos, belief.keep.toNanos());
      } else if (!belief.releasedWhileValid && belief.everValid) {
        tooEarly(belief, granted, belief.believedUntil(), belief.delay.toNanos());
      }
    }
  }

  private static boolean conflicts(Mode a, Mode b) {
    return a instanceof Mode.Exclusive || b instanceof Mode.Exclusive;
  }

  private void tooEarly(Belief belief, History.Granted granted, long from, long closed) {
    // The caller counts by its own clock, and may have been told a little late.
    long due = from + closed * 99 / 100 - Machine.LATEST_NANOS;
    if (closed > 0 && world.now() < due) {
      throw world.violated(
          Invariant.DELAY,
          granted + " came " + (due - world.now()) / 1_000 + "us too early after " + belief);
    }
  }

  /** The ids of all holds that callers still have. */
  Set<String> held() {
    Set<String> ids = new HashSet<>();
    open.stream().filter(Belief::isOpen).forEach(belief -> ids.add(belief.id));
    return ids;
  }
}
