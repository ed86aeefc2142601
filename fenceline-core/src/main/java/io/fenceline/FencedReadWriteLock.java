package io.fenceline;

/**
 * A pair of locks on one name: any number of readers, or one writer.
 *
 * <p>Readers do not starve writers: a reader that comes after a waiting writer waits behind it.
 * Holds of both have fencing tokens, and a fence judges them by their mode.
 */
public interface FencedReadWriteLock {

  /** The name. */
  String name();

  /** Shared by readers. */
  Acquirable<Hold> readLock();

  /** For one writer; the same as {@link Fenceline#lock} of the same name. */
  FencedLock writeLock();
}
