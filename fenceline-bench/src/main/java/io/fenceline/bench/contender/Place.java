package io.fenceline.bench.contender;

/**
 * Where this process stands among those that take turns, for what hands on in a ring.
 *
 * @param index from 0
 * @param count how many there are
 */
public record Place(int index, int count) {
  private static final String PROPERTY = "fenceline.bench.place";

  /** As an option of the process that is to stand there. */
  public String option() {
    return "-D" + PROPERTY + "=" + index + "/" + count;
  }

  /** Of this process; alone, if nothing was said. */
  static Place here() {
    String[] said = System.getProperty(PROPERTY, "0/1").split("/", -1);
    return new Place(Integer.parseInt(said[0]), Integer.parseInt(said[1]));
  }

  /** Whose turn comes next. */
  int next() {
    return (index + 1) % count;
  }
}
