package io.fenceline.spi;

/** Which work a task belongs to; work of one lane never waits for work of another. */
public enum Lane {
  /** Renewals: nothing else runs there, so that nothing else can make them late. */
  RENEWAL,
  /** Claims, undos and retries that the runtime starts by itself. */
  WORK,
  /** The user's listeners and the completion of the user's futures. */
  CALLBACK
}
