package io.fenceline.bench.work;

import java.util.List;

/**
 * How long it may take.
 *
 * @param label for the report
 * @param warmUp turns that each contender has before the first work, at most: fewer if its compiler
 *     has come to rest
 * @param settle the same before each work
 * @param alone turns of works in which nobody meets anybody: many short ones, because that is where
 *     contenders differ by tenths
 * @param hot turns of works in which all want the same
 * @param fleet turns of works of several processes
 * @param turns turns of works of several processes of one thread
 * @param crowds how many such processes
 * @param clients how many clients want one name at once, in steps
 * @param wireCycles how many cycles are counted on the wire
 * @param holds how many names are held at once, in steps
 * @param heldSeconds how long they are watched, which is a third of their lease
 * @param waiters how many claims wait at once, in steps
 * @param names how many names are live at once, in steps
 */
public record Effort(
    String label,
    Turns warmUp,
    Turns settle,
    Turns alone,
    Turns hot,
    Turns fleet,
    Turns turns,
    List<Integer> crowds,
    List<Integer> clients,
    int wireCycles,
    List<Integer> holds,
    int heldSeconds,
    List<Integer> waiters,
    List<Integer> names) {

  /**
   * How often each contender has its turn, and how long that is.
   *
   * @param rounds how often
   * @param millis how long
   */
  public record Turns(int rounds, int millis) {}

  /** The same, with other crowds. */
  public Effort with(List<Integer> otherCrowds) {
    return new Effort(
        label,
        warmUp,
        settle,
        alone,
        hot,
        fleet,
        turns,
        otherCrowds,
        clients,
        wireCycles,
        holds,
        heldSeconds,
        waiters,
        names);
  }

  /** The same, with crowds of other numbers of clients. */
  public Effort withClients(List<Integer> otherClients) {
    return new Effort(
        label,
        warmUp,
        settle,
        alone,
        hot,
        fleet,
        turns,
        crowds,
        otherClients,
        wireCycles,
        holds,
        heldSeconds,
        waiters,
        names);
  }

  /** For figures that are published. */
  public static final Effort FULL =
      new Effort(
          "full",
          new Turns(40, 1_000),
          new Turns(10, 1_000),
          new Turns(101, 100),
          new Turns(9, 500),
          new Turns(3, 2_000),
          new Turns(7, 1_000),
          List.of(2, 8, 32),
          List.of(2, 10, 100, 500),
          500,
          List.of(1_000, 10_000, 100_000),
          10,
          List.of(1, 10, 100, 1_000, 10_000),
          List.of(1_000, 10_000, 100_000, 1_000_000));

  /** For a look. */
  public static final Effort QUICK =
      new Effort(
          "quick",
          new Turns(1, 500),
          new Turns(1, 50),
          new Turns(9, 50),
          new Turns(1, 200),
          new Turns(2, 500),
          new Turns(3, 500),
          List.of(2, 8),
          List.of(2, 10, 100),
          100,
          List.of(1_000),
          1,
          List.of(1, 10, 100, 1_000),
          List.of(1_000, 10_000));

  /** For a check that the code still runs. */
  public static final Effort SMOKE =
      new Effort(
          "smoke",
          new Turns(1, 20),
          new Turns(1, 2),
          new Turns(1, 20),
          new Turns(1, 20),
          new Turns(1, 100),
          new Turns(1, 200),
          List.of(2),
          List.of(2, 5),
          4,
          List.of(10),
          1,
          List.of(1, 3),
          List.of(10, 30));
}
