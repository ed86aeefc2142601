package io.fenceline.runtime;

import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.ReleaseOutcome;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * A lock that threads own, exclusive or shared.
 *
 * <p>A thread that owns the exclusive lock may lock the shared one, too: both kinds of entries are
 * counted on the exclusive hold, which is released after the last of them.
 */
@SuppressWarnings("MustBeClosedChecker") // A lock is closed by unlock, not by a block.
final class ThreadLock implements ReentrantFencedLock {
  private final LeaseLock<Hold> lock;
  private final boolean shared;
  private final ThreadOwners owners;

  ThreadLock(LeaseLock<Hold> lock, boolean shared, ThreadOwners owners) {
    this.lock = lock;
    this.shared = shared;
    this.owners = owners;
  }

  @Override
  public void lock() {
    if (!reenter()) {
      owners.put(lock.name, shared, lock.acquireUninterruptibly());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reenter()) {
      owners.put(lock.name, shared, lock.acquireInTurn(Durations.LONGEST));
    }
  }

  @Override
  public boolean tryLock() {
    ThreadOwners.Ownership mine = mine();
    if (mine != null) {
      return reenterIfValid(mine);
    }
    Optional<Hold> hold = lock.tryAcquire();
    hold.ifPresent(got -> owners.put(lock.name, shared, got));
    return hold.isPresent();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    Objects.requireNonNull(unit, "unit");
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    ThreadOwners.Ownership mine = mine();
    if (mine != null) {
      return reenterIfValid(mine);
    }
    Duration wait = Duration.ofNanos(unit.toNanos(Math.max(0, time)));
    try {
      owners.put(
          lock.name,
          shared,
          lock.acquireInTurn(wait.compareTo(Durations.LONGEST) > 0 ? Durations.LONGEST : wait));
      return true;
    } catch (LockTimeoutException e) {
      return false;
    }
  }

  /**
   * Returns what the calling thread owns and can re-enter, or null. A hold that the thread has
   * released without this lock is forgotten: the lock is acquired again.
   */
  private ThreadOwners.@Nullable Ownership mine() {
    ThreadOwners.Ownership mine = owners.get(lock.name, shared);
    while (mine != null && !mine.hold.isOpen()) {
      owners.remove(mine);
      mine = owners.get(lock.name, shared);
    }
    return mine;
  }

  /** Re-enters if the thread owns the lock; throws if the thread has lost it. */
  private boolean reenter() {
    ThreadOwners.Ownership mine = mine();
    if (mine == null) {
      checkNoUpgrade();
      return false;
    }
    if (!reenterIfValid(mine)) {
      throw mine.hold.lossException();
    }
    return true;
  }

  private void checkNoUpgrade() {
    ThreadOwners.Ownership read = shared ? null : owners.get(lock.name, true);
    if (read != null && read.hold.isValid()) {
      throw new IllegalMonitorStateException(
          "Thread '%s' owns the read lock of '%s' and would wait for itself: unlock that first"
              .formatted(Thread.currentThread().getName(), lock.name));
    }
  }

  private boolean reenterIfValid(ThreadOwners.Ownership mine) {
    if (!mine.hold.isValid()) {
      return false;
    }
    mine.enter(shared);
    return true;
  }

  @Override
  public void unlock() {
    ThreadOwners.Ownership mine = owned();
    if (!mine.leave(shared)) {
      return;
    }
    owners.remove(mine);
    if (mine.hold.release() == ReleaseOutcome.ALREADY_LOST) {
      throw mine.hold.lossException();
    }
  }

  private ThreadOwners.Ownership owned() {
    ThreadOwners.Ownership mine = owners.get(lock.name, shared);
    if (mine == null || mine.count(shared) == 0) {
      throw new IllegalMonitorStateException(
          "Lock '"
              + lock.name
              + "' is not owned by thread '"
              + Thread.currentThread().getName()
              + "'");
    }
    return mine;
  }

  @Override
  public long token() {
    return owned().hold.token();
  }

  @Override
  public Hold hold() {
    return owned().hold;
  }

  @Override
  public int holdCount() {
    ThreadOwners.Ownership mine = owners.get(lock.name, shared);
    return mine == null ? 0 : mine.count(shared);
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "Lock '"
            + lock.name
            + "' has no conditions: a store can't wake a thread of another process");
  }

  @Override
  public String toString() {
    return "ReentrantFencedLock '" + lock.name + "'";
  }
}
