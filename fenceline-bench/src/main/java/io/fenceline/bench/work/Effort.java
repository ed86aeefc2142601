package io.fenceline.bench.work;

import java.util.List;

/**
 * How long it may take.
 *
 * @param label for the report
 * @param rounds how often each contender has its turn
 * @param roundMillis how long a turn is
 * @param warmUpMillis how long each contender runs before the first round of a work, and four times
 *     as long before the first work
 * @param wireCycles how many cycles are counted on the wire
 * @param fleetRounds how often each contender has its turn in a fleet
 * @param fleetMillis how long a turn of a fleet is
 * @param holds how many names are held at once, in steps
 * @param heldSeconds how long they are watched, which is a third of their lease
 * @param waiters how many claims wait at once, in steps
 * @param names how many names are live at once, in steps
 */
public record Effort(
    String label,
    int rounds,
    int roundMillis,
    int warmUpMillis,
    int wireCycles,
    int fleetRounds,
    int fleetMillis,
    List<Integer> holds,
    int heldSeconds,
    List<Integer> waiters,
    List<Integer> names) {

  /** For figures that are published. */
  public static final Effort FULL =
      new Effort(
          "full",
          9,
          500,
          1_000,
          500,
          3,
          2_000,
          List.of(1_000, 10_000, 100_000),
          10,
          List.of(1, 10, 100, 1_000, 10_000),
          List.of(1_000, 10_000, 100_000, 1_000_000));

  /** For a look. */
  public static final Effort QUICK =
      new Effort(
          "quick",
          3,
          150,
          250,
          100,
          2,
          500,
          List.of(100, 1_000),
          4,
          List.of(1, 10, 100, 1_000),
          List.of(1_000, 10_000));

  /** For a check that the code still runs. */
  public static final Effort SMOKE =
      new Effort("smoke", 1, 20, 20, 4, 1, 100, List.of(10), 1, List.of(1, 3), List.of(10, 30));
}
