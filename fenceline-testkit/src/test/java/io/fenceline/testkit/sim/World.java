package io.fenceline.testkit.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and all that will happen in it: one queue, one thread, one seed.
 *
 * <p>A step is one event, followed by every check.
 */
final class World {
  static final long MILLI = 1_000_000;

  /** More than any script needs; a run that gets here goes round in circles. */
  private static final long MOST_STEPS = 60_000;

  /** Something that will happen, unless it is cancelled. */
  static final class Event {
    final long at;
    final long sequence;
    final @Nullable Host host;
    final int source;
    final String what;
    final Runnable task;
    boolean over;

    Event(long at, long sequence, @Nullable Host host, int source, String what, Runnable task) {
      this.at = at;
      this.sequence = sequence;
      this.host = host;
      this.source = source;
      this.what = what;
      this.task = task;
    }
  }

  final SplittableRandom random;
  final Tally tally = new Tally();
  private final PriorityQueue<Event> queue =
      new PriorityQueue<>(
          64,
          (a, b) -> a.at != b.at ? Long.compare(a.at, b.at) : Long.compare(a.sequence, b.sequence));
  private final @Nullable List<String> lines;
  private Runnable check = () -> {};
  private long now;
  private long sequence;
  private final Map<HostThread, List<Event>> blocked = new HashMap<>();
  private @Nullable HostThread running;
  private @Nullable Violation first;
  private long lastInterrupt = -1;
  private long hash = 1;
  private int hosts;

  World(long seed, boolean recorded) {
    this.random = new SplittableRandom(seed);
    this.lines = recorded ? new ArrayList<>() : null;
  }

  /** A thread of a host, by the source of what it does. */
  private record HostThread(Host host, int source) {}

  void checkAfterEachStep(Runnable check) {
    this.check = check;
  }

  /** Nanoseconds since the world began, by no clock that anyone in it can read. */
  long now() {
    return now;
  }

  Event after(long nanos, @Nullable Host host, int source, String what, Runnable task) {
    Event event = new Event(now + Math.max(0, nanos), sequence++, host, source, what, task);
    queue.add(event);
    return event;
  }

  /** Something outside of all machines. */
  Event after(long nanos, String what, Runnable task) {
    return after(nanos, null, 0, what, task);
  }

  /** Runs until a moment; what is due then has run. */
  void runUntil(long moment) {
    while (!queue.isEmpty() && queue.peek().at <= moment) {
      step();
    }
    now = Math.max(now, moment);
  }

  /** Whether anything is left to happen. */
  boolean isOver() {
    return queue.isEmpty();
  }

  /** The next event. */
  void step() {
    Event event = queue.poll();
    if (event == null) {
      throw violated(Invariant.I7, "a call waits, and nothing will ever wake it");
    }
    if (event.over) {
      return;
    }
    now = event.at;
    if (event.host != null && !event.host.isRunning()) {
      event.host.defer(event);
      return;
    }
    HostThread thread = event.host == null ? null : new HostThread(event.host, event.source);
    List<Event> waiting = blocked.get(thread);
    if (waiting != null) {
      waiting.add(event);
      return;
    }
    event.over = true;
    tally.add(Count.STEPS);
    if (tally.of(Count.STEPS) > MOST_STEPS) {
      throw violated(Invariant.I7, "it never ends: " + event.what);
    }
    hash = hash * 31 + now;
    hash = hash * 31 + event.source;
    HostThread outer = running;
    running = thread;
    try {
      event.task.run();
    } catch (Machine.Died e) {
      note("*", "a blocked call ends with its process");
    } catch (Violation e) {
      throw first == null ? e : first;
    } catch (RuntimeException | Error e) {
      throw violated(Invariant.SOUND, event.what + " threw " + e, e);
    } finally {
      running = outer;
    }
    check.run();
    if (first != null) {
      throw first; // It was thrown into a future, which kept it for itself.
    }
  }

  /** Says that something did not hold: the run ends with this step, whoever catches it. */
  Violation violated(Invariant invariant, String what) {
    return violated(invariant, what, null);
  }

  Violation violated(Invariant invariant, String what, @Nullable Throwable cause) {
    Violation violation = new Violation(invariant, what, cause);
    if (first == null) {
      first = violation;
    }
    return violation;
  }

  // Blocking. -----------------------------------------------------------------------------------

  /** The host that does something now, or null. */
  @Nullable Host running() {
    return running == null ? null : running.host;
  }

  /** Lets the thread that runs now stand still for a while: what it would do next waits. */
  void block(long nanos) {
    HostThread standing = running;
    if (standing == null || blocked.containsKey(standing)) {
      return;
    }
    List<Event> waiting = new ArrayList<>();
    blocked.put(standing, waiting);
    long end = now + nanos;
    after(nanos, "unblock", () -> {});
    try {
      while (now < end && !standing.host.isDead()) {
        step();
      }
    } finally {
      blocked.remove(standing);
      for (Event event : waiting) {
        after(
            0,
            event.host,
            event.source,
            event.what,
            () -> {
              if (!event.over) {
                event.over = true;
                event.task.run();
              }
            });
      }
    }
    if (standing.host.isDead()) {
      throw new Machine.Died();
    }
  }

  /** A loss has interrupted a thread that had acquired what was lost. */
  void interrupted() {
    lastInterrupt = now;
    tally.add(Count.LOSSES_THAT_INTERRUPT);
  }

  /** Whether a loss has interrupted anyone since. */
  boolean wasInterruptedSince(long since) {
    return lastInterrupt >= since;
  }

  // The timeline. -------------------------------------------------------------------------------

  boolean isRecorded() {
    return lines != null;
  }

  /** A line of the timeline; costs nothing unless it is recorded. */
  void note(String who, String format, @Nullable Object... values) {
    if (lines != null) {
      String what = String.format(Locale.ROOT, format, values);
      lines.add(String.format(Locale.ROOT, "%11.3f ms  %-8s %s", now / 1e6, who, what));
    }
  }

  List<String> timeline() {
    return lines == null ? List.of() : lines;
  }

  /** The same for two runs exactly if the same events ran at the same times. */
  long hash() {
    return hash;
  }

  int nextHost() {
    return hosts++;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  /** From zero up to a bound. */
  long nanosBelow(long bound) {
    return random.nextLong(bound);
  }

  boolean chance(int inThousand) {
    return random.nextInt(1000) < inThousand;
  }
}
