package io.fenceline.recipes.ratelimit;

import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import java.time.Duration;

/**
 * What a limit allows.
 *
 * @param burst how many a smooth limit allows at once; 0 for a strict one
 */
record Allowance(int permits, long periodMicros, int burst) {
  /** A strict limit remembers at most so many marks of one period. */
  private static final int MARKS = 500;

  private static final int MOST_PERMITS = 1_000_000_000;
  private static final Duration LONGEST_PERIOD = Duration.ofDays(31);

  /** Rounding the interval to whole microseconds must not change the rate by more than 1 %. */
  private static final long SHORTEST_INTERVAL_MICROS = 100;

  static Allowance strict(int permits, Duration period) {
    return new Allowance(checkPermits(permits), checkPeriod(period), 0);
  }

  static Allowance smooth(int permits, Duration period, int burst) {
    Allowance terms = new Allowance(checkPermits(permits), checkPeriod(period), burst);
    if (burst < 1 || burst > permits) {
      throw new InvalidSettingException(
          "burst", burst, "it must be 1 to permits, which is %d".formatted(permits));
    }
    if (terms.periodMicros / permits < SHORTEST_INTERVAL_MICROS) {
      throw new InvalidSettingException(
          "permits",
          permits,
          "a smooth limit has at most one permit in %dus, that is %d in %s"
              .formatted(
                  SHORTEST_INTERVAL_MICROS,
                  terms.periodMicros / SHORTEST_INTERVAL_MICROS,
                  Durations.show(period)));
    }
    return terms;
  }

  private static int checkPermits(int permits) {
    if (permits < 1 || permits > MOST_PERMITS) {
      throw new InvalidSettingException(
          "permits", permits, "it must be 1 to %d".formatted(MOST_PERMITS));
    }
    return permits;
  }

  private static long checkPeriod(Duration period) {
    if (Durations.checkPositive("period", period).compareTo(LONGEST_PERIOD) > 0) {
      throw new InvalidSettingException(
          "period", period, "it must be at most " + Durations.show(LONGEST_PERIOD));
    }
    return period.toNanos() / 1_000;
  }

  boolean isSmooth() {
    return burst > 0;
  }

  /** As it is stored. */
  int kind() {
    return isSmooth() ? 2 : 1;
  }

  static String show(int kind, long periodMicros) {
    return "%s, %s"
        .formatted(
            kind == 2 ? "smooth" : "strict",
            Durations.show(Duration.ofNanos(periodMicros * 1_000)));
  }

  /** The most that can be asked for at once. */
  int atOnce() {
    return isSmooth() ? burst : permits;
  }

  /** How far apart marks are at least: exact for a small limit, 1/500 of the period otherwise. */
  long grainMicros() {
    return permits <= MARKS ? 1 : Math.max(1, periodMicros / MARKS);
  }

  /** Between two permits of a smooth limit: rounded up, so that it is never faster. */
  long intervalMicros() {
    return Math.floorDiv(periodMicros - 1, (long) permits) + 1;
  }

  Duration period() {
    return Duration.ofNanos(periodMicros * 1_000);
  }

  @Override
  public String toString() {
    return "%d in %s%s"
        .formatted(
            permits,
            Durations.show(period()),
            isSmooth() ? ", smooth, burst " + burst : ", strict");
  }
}
