package io.fenceline.bench.work;

import io.fenceline.bench.contender.Entrant.Discipline;
import java.util.List;
import java.util.stream.Stream;

/**
 * Who wants what.
 *
 * @param name of the work
 * @param meaning in words
 * @param discipline what it asks of a lock
 * @param threads how many
 * @param oneName whether all want the same name, or each one of its own
 * @param stayMillis how long each stays inside
 */
public record Shape(
    String name,
    String meaning,
    Discipline discipline,
    int threads,
    boolean oneName,
    int stayMillis) {

  /** One thread. */
  public static final Shape SOLO =
      new Shape("solo", "one thread, one name", Discipline.ALONE, 1, true, 0);

  /** Many threads that do not meet. */
  public static final Shape SPREAD =
      new Shape("spread", "32 threads, 32 names", Discipline.ALONE, 32, false, 0);

  /** Many threads that want the same. */
  public static final Shape HOT =
      new Shape("hot", "32 threads, one name, one process", Discipline.HOT, 32, true, 0);

  /** As {@link #HOT}, with work inside. */
  public static Shape busy(int millis) {
    return new Shape(
        "busy " + millis + " ms",
        "8 threads, one name, " + millis + " ms inside",
        Discipline.HOT,
        8,
        true,
        millis);
  }

  /** What all go through first, to be compiled. */
  public static final Shape WARM_UP =
      new Shape("warm-up", "32 threads, 32 names", Discipline.ALONE, 32, false, 0);

  /** All works of one process. */
  public static final List<Shape> ALL = List.of(SOLO, SPREAD, HOT, busy(1), busy(10));

  /** The work as one asks for it: {@code busy} for all of that kind. */
  public String work() {
    return stayMillis > 0 ? "busy" : name;
  }

  /** The name as one word. */
  String id() {
    return name.replace(' ', '-');
  }

  static Shape called(String id) {
    return Stream.concat(Stream.of(WARM_UP), ALL.stream())
        .filter(shape -> shape.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  String nameFor(int thread) {
    return oneName ? id() : id() + "-" + thread;
  }
}
