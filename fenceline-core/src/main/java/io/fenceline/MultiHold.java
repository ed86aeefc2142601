package io.fenceline;

import java.util.List;

/**
 * Several locks, held together: valid while all of them are, lost when the first of them is, and
 * released together.
 */
public interface MultiHold extends Held {

  /** The holds, in the order of their names. */
  List<Hold> holds();

  /**
   * The hold of one name.
   *
   * @throws IllegalArgumentException if the name is not among them
   */
  Hold hold(String name);
}
