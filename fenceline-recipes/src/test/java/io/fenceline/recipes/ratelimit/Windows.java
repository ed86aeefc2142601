package io.fenceline.recipes.ratelimit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Finds the fullest window. */
final class Windows {
  private Windows() {}

  /** The most that any window of this length has, its end excluded. */
  static int fullest(List<Long> times, long length) {
    List<Long> sorted = new ArrayList<>(times);
    Collections.sort(sorted);
    int most = 0;
    int first = 0;
    for (int i = 0; i < sorted.size(); i++) {
      while (sorted.get(i) - sorted.get(first) >= length) {
        first++;
      }
      most = Math.max(most, i - first + 1);
    }
    return most;
  }

  /** Something that happened at some moment of this span. */
  record Span(long from, long to) {}

  /**
   * The most that certainly happened in one window of this length, whenever exactly they did: those
   * that lie in it as a whole.
   */
  static int certainlyFullest(List<Span> spans, long length) {
    int most = 0;
    for (Span first : spans) {
      int inside = 0;
      for (Span span : spans) {
        if (span.from >= first.from && span.to - first.from < length) {
          inside++;
        }
      }
      most = Math.max(most, inside);
    }
    return most;
  }
}
