package io.fenceline.jdbc.layout;

import io.fenceline.spi.Mode;

/**
 * A mode as arithmetic: a claim takes units of what the name has, and fits while there is room.
 *
 * @param taken how many units it takes
 * @param capacity how many there are; with it the family, since names of different kinds differ
 */
public record Units(long taken, long capacity) {
  /** What a lock has: more than any number of permits, so that the two are told apart by it. */
  public static final long WHOLE = 1L << 31;

  public static Units of(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return new Units(permits.count(), permits.total());
    }
    return new Units(mode instanceof Mode.Exclusive ? WHOLE : 1, WHOLE);
  }

  public Mode mode() {
    if (capacity == WHOLE) {
      return taken == WHOLE ? Mode.EXCLUSIVE : Mode.SHARED;
    }
    return Mode.permits((int) taken, (int) capacity);
  }

  public String family() {
    return mode().family();
  }
}
