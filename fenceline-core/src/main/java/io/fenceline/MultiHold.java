package io.fenceline;

import java.util.List;

/**
 * Several locks that are held together: valid while all of them are valid, lost when the first one
 * is lost, and released together.
 */
public interface MultiHold extends Held {

  /** Returns the holds, in the order of their names. */
  List<Hold> holds();

  /**
   * Returns the hold of one of the locks.
   *
   * @throws IllegalArgumentException if there is no lock with this name
   */
  Hold hold(String name);
}
