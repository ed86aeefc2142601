package io.fenceline.spi;

import java.util.Collection;

/**
 * How a name is claimed. A mutex, a read-write lock and a semaphore are one primitive in three
 * modes.
 */
public sealed interface Mode {

  /** Excludes all others. */
  Mode EXCLUSIVE = new Exclusive();

  /** Allows any number of others that share, too. */
  Mode SHARED = new Shared();

  /** Returns a number of permits out of all there are. */
  static Mode permits(int count, int total) {
    return new Permits(count, total);
  }

  /** Returns whether a claim of this mode can be granted beside what is held. */
  boolean fitsBeside(Collection<Mode> held);

  /**
   * Returns the family: on one name, only claims of one family may meet. Exclusive and shared
   * claims are one family; permits are one family for each total.
   */
  String family();

  /** See {@link #EXCLUSIVE}. */
  record Exclusive() implements Mode {
    @Override
    public boolean fitsBeside(Collection<Mode> held) {
      return held.isEmpty();
    }

    @Override
    public String family() {
      return "lock";
    }

    @Override
    public String toString() {
      return "exclusive";
    }
  }

  /** See {@link #SHARED}. */
  record Shared() implements Mode {
    @Override
    public boolean fitsBeside(Collection<Mode> held) {
      return held.stream().allMatch(Shared.class::isInstance);
    }

    @Override
    public String family() {
      return "lock";
    }

    @Override
    public String toString() {
      return "shared";
    }
  }

  /**
   * See {@link #permits}.
   *
   * @param count how many are claimed
   * @param total how many the name has
   */
  record Permits(int count, int total) implements Mode {
    /** Checks that the count is between one and the total. */
    public Permits {
      if (count < 1 || count > total) {
        throw new IllegalArgumentException("permits: " + count + " of " + total);
      }
    }

    @Override
    public boolean fitsBeside(Collection<Mode> held) {
      long taken = 0; // Totals may be as large as an int can be.
      for (Mode mode : held) {
        taken += mode instanceof Permits permits ? permits.count : total;
      }
      return taken + count <= total;
    }

    @Override
    public String family() {
      return "semaphore of " + total;
    }

    @Override
    public String toString() {
      return count + " of " + total + " permits";
    }
  }
}
