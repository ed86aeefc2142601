package io.fenceline;

/**
 * A lock shared by processes through a store, held on a lease that can run out.
 *
 * <p>Each acquisition yields a {@link Hold} carrying a <em>fencing token</em>, larger than the
 * token of every earlier hold on the same name. A holder that pauses past its lease still believes
 * that it holds the lock; only the guarded resource can stop it, by refusing a token smaller than
 * the largest it has seen.
 *
 * <pre>{@code
 * FencedLock lock = fenceline.lock("ledger");
 * try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
 *   ledger.append(entry, hold.token());
 * }
 * }</pre>
 *
 * <p>Not reentrant: a second acquire by the same thread waits like any other. Re-entry is explicit,
 * by {@link Hold#reenter}, or by thread, in {@link #asReentrantLock}.
 *
 * <p>Thread-safe. Locks of the same name and client are interchangeable.
 */
public interface FencedLock extends Acquirable<Hold> {

  /** Returns the name of this lock. */
  String name();

  /** Returns the options with which this lock is acquired. */
  LockOptions options();

  /**
   * Returns this lock as a {@link java.util.concurrent.locks.Lock} that is owned by a thread.
   *
   * <p>All views of one name in one client share their owner: a thread that holds the lock can
   * re-enter it through any of them.
   */
  ReentrantFencedLock asReentrantLock();
}
