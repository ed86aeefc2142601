package io.fenceline.jdbc.claim;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Names that were alone when this client last saw them: they have a row, and nobody beside the one
 * holder, if any; or, in another one, names that were not.
 *
 * <p>Only a guess about which statement to try first: others may have come since, and the row may
 * be gone. So it may forget, and keeps no more than a fixed number of names.
 */
public final class RecentNames {
  private static final int SIZE = 4_096;

  private final AtomicReferenceArray<String> names = new AtomicReferenceArray<>(SIZE);

  public boolean has(String name) {
    return name.equals(names.get(place(name)));
  }

  public void add(String name) {
    if (!has(name)) {
      names.set(place(name), name);
    }
  }

  void remove(String name) {
    if (has(name)) {
      names.set(place(name), "");
    }
  }

  private static int place(String name) {
    int hash = name.hashCode() * 0x9E3779B9; // Names differ at their ends, mostly.
    return hash >>> -Integer.numberOfTrailingZeros(SIZE);
  }
}
