package io.fenceline;

import io.fenceline.settings.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * A lock that is owned by a thread and keeps the contract of {@link Lock}, with a fencing token.
 *
 * <pre>{@code
 * ReentrantFencedLock lock = fenceline.lock("ledger").asReentrantLock();
 * lock.lock();
 * try {
 *   ledger.append(entry, lock.token());
 * } finally {
 *   lock.unlock();
 * }
 * }</pre>
 *
 * <p>Re-entry keeps the token and needs no round trip. If the lock was lost, re-entry fails: {@code
 * tryLock} returns false and {@code lock} throws {@link LockLostException}, until the owner has
 * unlocked as often as it has locked. If a thread ends without unlocking, its lock is no longer
 * renewed, and is reported as leaked. Conditions are not supported. Waiting callers queue in the
 * order of arrival, for as long as the call allows; a {@link WaitStrategy} does not apply.
 */
public interface ReentrantFencedLock extends Lock {

  /**
   * Returns the token of the calling thread's hold.
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   */
  long token();

  /**
   * Returns the calling thread's hold; release it by {@link #unlock}.
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   */
  Hold hold();

  /** Returns how many times the calling thread has locked without unlocking. */
  int holdCount();

  /**
   * {@inheritDoc}
   *
   * @throws StoreUnavailableException if the store gave no answer
   * @throws LockLostException if the thread owns the lock and has lost it
   */
  @Override
  void lock();

  /**
   * {@inheritDoc}
   *
   * <p>Waits up to the given time in the order of arrival.
   */
  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /**
   * {@inheritDoc}
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   * @throws LockLostException if the lock was lost before this last unlock; it is unlocked anyway
   */
  @Override
  void unlock();
}
