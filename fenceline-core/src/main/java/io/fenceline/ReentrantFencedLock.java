package io.fenceline;

import io.fenceline.settings.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * A lock that the thread owns, true to the contract of {@link Lock}, with its token.
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
 * <p>Re-entry keeps the token and costs no round trip; on a lost lock it fails: {@code tryLock}
 * answers false and {@code lock} throws {@link LockLostException}, until the owner has unlocked as
 * often as it has locked. A thread that ends without unlocking is found out: its lock is no longer
 * renewed, and is reported as leaked. There are no conditions. Waiting callers queue in the order
 * of arrival, for as long as the call says; a {@link WaitStrategy} does not apply.
 */
public interface ReentrantFencedLock extends Lock {

  /**
   * The token of the calling thread's hold.
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   */
  long token();

  /**
   * The calling thread's hold; release it by {@link #unlock}.
   *
   * @throws IllegalMonitorStateException if the calling thread does not own the lock
   */
  Hold hold();

  /** How many times the calling thread has locked and not unlocked. */
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
   * @throws LockLostException if the lock was lost before this last unlock; it is unlocked all the
   *     same
   */
  @Override
  void unlock();
}
