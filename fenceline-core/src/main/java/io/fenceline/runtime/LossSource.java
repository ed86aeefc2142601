package io.fenceline.runtime;

import io.fenceline.LockLostException;

/** Something held that can say how it was lost. */
interface LossSource {
  /**
   * The exception for its loss.
   *
   * @throws IllegalStateException if it is not lost
   */
  LockLostException lossException();
}
