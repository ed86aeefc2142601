package io.fenceline.time;

/** Which work a task belongs to; work of one lane never waits for work of another. */
public enum Lane {
  /** Renewals: nothing else runs there, so that nothing else can make them late. */
  RENEWAL,
  /** Claims that the runtime or a store sends by itself. */
  WORK,
  /** Requests of stores whose drivers block, for callers who must not. */
  REQUEST,
  /** What cleans up at the store, which may be slow to answer when there is much of it. */
  UNDO,
  /** What is lost, to those who listen on the hold itself; they may block. */
  LOSS,
  /**
   * All events, to the client's listeners and the log, each on one thread at a time; and the
   * interrupts of those who have lost something.
   */
  EVENT,
  /** The completion of the user's futures, with whatever depends on them. */
  CALLBACK
}
