package io.fenceline.recipes.ratelimit;

import io.fenceline.recipes.ratelimit.RateStore.Answer;
import java.util.ArrayDeque;
import java.util.Iterator;

/**
 * The permits of one name, and the rule by which they are taken; see {@code strict.lua} and {@code
 * smooth.lua}, which have the same one. Its clock never goes back.
 */
final class Tally {
  /** So many permits were taken no later than at this time. */
  private record Mark(long micros, long permits) {}

  final int kind;
  final long periodMicros;

  private final ArrayDeque<Mark> marks = new ArrayDeque<>();
  private long taken;
  private long dueMicros;
  private long expiresMicros;

  Tally(Allowance terms) {
    kind = terms.kind();
    periodMicros = terms.periodMicros();
  }

  boolean isOver(long nowMicros) {
    return expiresMicros < nowMicros;
  }

  boolean isOf(Allowance terms) {
    return kind == terms.kind() && periodMicros == terms.periodMicros();
  }

  /** As {@link RateStore#take}; the time of the answer is by the clock of the argument. */
  Answer take(Allowance terms, int permits, long longestWaitMicros, long nowMicros) {
    return terms.isSmooth()
        ? smooth(terms, permits, longestWaitMicros, nowMicros)
        : strict(terms, permits, longestWaitMicros, nowMicros);
  }

  private Answer strict(Allowance terms, int permits, long longestWait, long now) {
    while (!marks.isEmpty() && marks.peekFirst().micros + periodMicros <= now) {
      taken -= marks.removeFirst().permits;
    }
    long grain = terms.grainMicros();
    long at = marks.isEmpty() ? now : Math.max(now, marks.peekLast().micros - grain + 1);
    long inTheWay = taken - terms.permits() + permits;
    for (Iterator<Mark> each = marks.iterator(); inTheWay > 0 && each.hasNext(); ) {
      Mark mark = each.next();
      at = Math.max(at, mark.micros + periodMicros);
      inTheWay -= mark.permits;
    }
    if (at - now > longestWait) {
      return new Answer(false, at - now, at);
    }
    long mark = (at / grain + 1) * grain - 1;
    long before = 0;
    if (!marks.isEmpty() && marks.peekLast().micros == mark) {
      before = marks.removeLast().permits;
    }
    marks.addLast(new Mark(mark, before + permits));
    taken += permits;
    expiresMicros = mark + periodMicros;
    return new Answer(true, at - now, at);
  }

  private Answer smooth(Allowance terms, int permits, long longestWait, long now) {
    long interval = terms.intervalMicros();
    long at = Math.max(now, dueMicros + (permits - terms.burst()) * interval);
    if (at - now > longestWait) {
      return new Answer(false, at - now, at);
    }
    dueMicros = Math.max(at, dueMicros) + permits * interval;
    expiresMicros = dueMicros;
    return new Answer(true, at - now, at);
  }
}
