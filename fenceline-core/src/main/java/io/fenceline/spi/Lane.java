package io.fenceline.spi;

/** Which work a task belongs to; work of one lane never waits for work of another. */
public enum Lane {
  /** Renewals: nothing else runs there, so that nothing else can make them late. */
  RENEWAL,
  /** Claims that the runtime or a store sends by itself. */
  WORK,
  /** What cleans up at the store, which may be slow to answer when there is much of it. */
  UNDO,
  /** The news of a loss, and the listeners that wait for it. */
  LOSS,
  /** The user's other listeners, and the completion of the user's futures. */
  CALLBACK
}
