package io.fenceline.runtime;

import io.fenceline.LockLostException;

/** Something held, as the runtime sees it: it can say how it was lost, and be given back unused. */
interface LossSource {
  /**
   * The exception for its loss.
   *
   * @throws IllegalStateException if it is not lost
   */
  LockLostException lossException();

  /** Gives back what nobody has taken: no name is kept closed for it. */
  void abandon();
}
