package io.fenceline;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A pair of locks on one name: any number of readers, or one writer.
 *
 * <p>Readers do not starve writers: a reader that comes after a waiting writer waits behind it.
 * Holds of both have fencing tokens, and a fence judges them by their mode.
 */
public interface FencedReadWriteLock {

  /** The name. */
  String name();

  /** How both are acquired. */
  LockOptions options();

  /** Shared by readers. */
  FencedLock readLock();

  /** For one writer; the same as {@link Fenceline#lock} of the same name. */
  FencedLock writeLock();

  /**
   * This lock as a {@link ReadWriteLock}, owned by the thread.
   *
   * <p>Both locks are {@link ReentrantFencedLock}s. A thread that owns the write lock may take the
   * read lock, too; the name stays closed for others until it has unlocked both, since no store can
   * turn one into the other. A thread that owns the read lock alone can't have the write lock, for
   * which it would wait for itself: {@code lock} says so with an {@link
   * IllegalMonitorStateException}.
   */
  ReadWriteLock asReadWriteLock();
}
