package io.fenceline.runtime;

import io.fenceline.LockLostException;

/**
 * Something held, as the runtime sees it: it knows how it was lost, and can be given back unused.
 */
interface LossSource {
  /**
   * The exception for its loss.
   *
   * @throws IllegalStateException if it is not lost
   */
  LockLostException lossException();

  /** Gives it back unused: its name is not kept closed. */
  void abandon();
}
