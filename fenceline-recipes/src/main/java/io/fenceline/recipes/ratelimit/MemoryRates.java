package io.fenceline.recipes.ratelimit;

import io.fenceline.time.Time;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Limits of one process: for tests, and for what is not to be shared. */
public final class MemoryRates extends RateStore {
  private static final int SWEEP_AFTER = 1_000;
  private static final long NANOS_PER_MICRO = 1_000;

  // Guarded by this.
  private final Map<String, Tally> tallies = new HashMap<>();
  private int sinceSweep;
  private @Nullable Long toWallMicros;

  private MemoryRates() {}

  /** Limits of their own. */
  public static MemoryRates create() {
    return new MemoryRates();
  }

  /** Returns how many names are remembered. */
  public synchronized int size() {
    return tallies.size();
  }

  @Override
  String kind() {
    return "memory";
  }

  @Override
  synchronized Answer take(
      String name, Allowance terms, int permits, long longestWaitMicros, Time time) {
    // The monotonic clock may have any origin; the rule divides times, and wants them positive.
    long now = Math.floorDiv(time.nanos() - Long.MIN_VALUE / 2, NANOS_PER_MICRO);
    if (toWallMicros == null) {
      toWallMicros = time.wallMillis() * 1_000 - now; // Once: this clock does not step.
    }
    if (++sinceSweep >= SWEEP_AFTER) {
      sinceSweep = 0;
      tallies.values().removeIf(tally -> tally.isOver(now));
    }
    Tally tally = tallies.get(name);
    if (tally == null || (!tally.isOf(terms) && tally.isOver(now))) {
      tally = new Tally(terms);
    }
    if (!tally.isOf(terms)) {
      throw otherUse(name, terms, tally.kind, tally.periodMicros);
    }
    Answer answer = tally.take(terms, permits, longestWaitMicros, now);
    if (answer.taken()) {
      tallies.put(name, tally);
    }
    return new Answer(answer.taken(), answer.waitMicros(), answer.atMicros() + toWallMicros);
  }
}
