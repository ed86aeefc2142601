package io.fenceline;

/** The outcome of a release. */
public enum ReleaseOutcome {
  /** The lock was held until now, and is released. */
  RELEASED,
  /**
   * The lock had been lost before; someone else may hold it. Work since the loss was unprotected.
   */
  ALREADY_LOST,
  /**
   * The lock was held by the local clock, but the store gave no answer. The name opens at the end
   * of the lease at the latest.
   */
  UNKNOWN
}
