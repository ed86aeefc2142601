package io.fenceline;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A pair of locks on one name: any number of readers, or one writer.
 *
 * <p>Readers do not starve writers: a reader that comes after a waiting writer waits behind it.
 * Holds of both locks have fencing tokens, and a fence compares them according to their mode.
 *
 * <p>No store can convert one lock into the other. A reader that wants to write releases its hold
 * first, and looks again at what it has read once it has the write lock: another writer may have
 * come in between. A program that acquires the write lock while it still reads waits for itself;
 * the {@link LockTimeoutException} then says so, or the log if the wait has no limit.
 */
public interface FencedReadWriteLock {

  /** Returns the name of both locks. */
  String name();

  /** Returns the options with which both locks are acquired. */
  LockOptions options();

  /** Returns the lock that readers share. */
  FencedLock readLock();

  /** Returns the lock for one writer; the same as {@link Fenceline#lock} with the same name. */
  FencedLock writeLock();

  /**
   * Returns this lock as a {@link ReadWriteLock} that is owned by a thread.
   *
   * <p>Both locks are {@link ReentrantFencedLock}s. A thread that owns the write lock may also take
   * the read lock; the name stays closed for others until the thread has unlocked both, since no
   * store can convert one into the other. A thread that owns only the read lock can't acquire the
   * write lock, since it would wait for itself: {@code lock} then throws {@link
   * IllegalMonitorStateException}.
   */
  ReadWriteLock asReadWriteLock();
}
