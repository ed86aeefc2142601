package io.fenceline.testkit.sim;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** How often each thing happened. */
public final class Tally {
  private final long[] counts = new long[Count.values().length];

  /** Nothing yet. */
  public Tally() {}

  void add(Count what) {
    counts[what.ordinal()]++;
  }

  /** Adds what another run contained. */
  public synchronized void add(Tally other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
  }

  /** How often it happened. */
  public synchronized long of(Count what) {
    return counts[what.ordinal()];
  }

  /** What happened less often than that. */
  public synchronized Set<Count> below(long bound) {
    Set<Count> rare = EnumSet.noneOf(Count.class);
    for (Count what : Count.values()) {
      if (counts[what.ordinal()] < bound) {
        rare.add(what);
      }
    }
    return rare;
  }

  /** One line for each kind. */
  @Override
  public synchronized String toString() {
    StringBuilder text = new StringBuilder();
    for (Count what : Count.values()) {
      String name = what.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      text.append(String.format(Locale.ROOT, "%,14d  %s%n", counts[what.ordinal()], name));
    }
    return text.toString();
  }
}
