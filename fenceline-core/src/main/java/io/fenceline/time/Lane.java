package io.fenceline.time;

/** The kind of work that a task is; the work of one lane never waits for that of another. */
public enum Lane {
  /** Renewals: nothing else runs here, so nothing else can make them late. */
  RENEWAL,
  /** Claims that the runtime or a store sends by itself. */
  WORK,
  /** Requests to stores whose drivers block, for callers that must not block. */
  REQUEST,
  /** Withdrawals and repeated releases; the store may be slow to answer when there are many. */
  UNDO,
  /** Calls of the loss listeners of a hold, which may block. */
  LOSS,
  /**
   * Calls of the client's listeners and the log, each on one thread at a time; and interrupts of
   * threads that have lost a hold.
   */
  EVENT,
  /** Completion of the user's futures, with the stages that depend on them. */
  CALLBACK
}
