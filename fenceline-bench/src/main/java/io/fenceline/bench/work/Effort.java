package io.fenceline.bench.work;

/**
 * How long it may take.
 *
 * @param label for the report
 * @param rounds how often each contender has its turn
 * @param roundMillis how long a turn is
 * @param warmUpMillis how long each contender runs before the first round of a work, and four times
 *     as long before the first work
 * @param wireCycles how many cycles are counted on the wire
 */
public record Effort(String label, int rounds, int roundMillis, int warmUpMillis, int wireCycles) {

  /** For figures that are published. */
  public static final Effort FULL = new Effort("full", 9, 500, 1_000, 500);

  /** For a look. */
  public static final Effort QUICK = new Effort("quick", 5, 200, 400, 200);

  /** For a check that the code still runs. */
  public static final Effort SMOKE = new Effort("smoke", 1, 30, 30, 20);
}
