package io.fenceline;

/** What became of a release. */
public enum ReleaseOutcome {
  /** The lock was held until now, and is given back. */
  RELEASED,
  /**
   * The lock was lost before; someone else may hold it. What was done meanwhile was unprotected.
   */
  ALREADY_LOST,
  /**
   * The lock was held by the local clock, but the store gave no answer. The name opens by itself at
   * the end of the lease, at the latest.
   */
  UNKNOWN
}
