package io.fenceline.bench.work;

import java.util.ArrayList;
import java.util.List;

/**
 * Counts of durations, in buckets that are a few percent wide; what processes send each other.
 *
 * <p>Not thread-safe: each thread has its own.
 */
public final class Histogram {
  /** Buckets of one power of two. */
  private static final int STEPS = 32;

  private final long[] counts = new long[64 * STEPS];
  private long max;

  void add(long nanos) {
    long value = Math.max(1, nanos);
    counts[index(value)]++;
    max = Math.max(max, value);
  }

  void add(Histogram other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    max = Math.max(max, other.max);
  }

  private static int index(long value) {
    int power = 63 - Long.numberOfLeadingZeros(value);
    int step = power < 5 ? 0 : (int) (value >>> (power - 5)) & (STEPS - 1);
    return power * STEPS + step;
  }

  private static long lowest(int index) {
    int power = index / STEPS;
    return power < 5 ? 1L << power : (long) (STEPS + index % STEPS) << (power - 5);
  }

  /** How many there are. */
  public long count() {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  /** The duration that a share of them stay below, in milliseconds. */
  public double millis(double share) {
    long wanted = (long) Math.ceil(share * count());
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen >= wanted && seen > 0) {
        return Math.min(lowest(i), max) / 1e6;
      }
    }
    return 0;
  }

  /** The longest, in milliseconds. */
  public double maxMillis() {
    return max / 1e6;
  }

  String text() {
    List<String> parts = new ArrayList<>();
    parts.add(Long.toString(max));
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        parts.add(i + ":" + counts[i]);
      }
    }
    return String.join(",", parts);
  }

  static Histogram parse(String text) {
    Histogram parsed = new Histogram();
    String[] parts = text.split(",", -1);
    parsed.max = Long.parseLong(parts[0]);
    for (int i = 1; i < parts.length; i++) {
      String[] pair = parts[i].split(":", -1);
      parsed.counts[Integer.parseInt(pair[0])] = Long.parseLong(pair[1]);
    }
    return parsed;
  }
}
