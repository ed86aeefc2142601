package io.fenceline.runtime;

import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.ReleaseOutcome;
import io.fenceline.spi.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** A lock as a thread owns it. */
@SuppressWarnings("MustBeClosedChecker") // A lock is closed by unlock, not by a block.
final class ThreadLock implements ReentrantFencedLock {
  private final LeaseLock<Hold> lock;
  private final ThreadOwners owners;

  ThreadLock(LeaseLock<Hold> lock, ThreadOwners owners) {
    this.lock = lock;
    this.owners = owners;
  }

  @Override
  public void lock() {
    if (!reenter()) {
      owners.put(lock.name, lock.acquireUninterruptibly());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reenter()) {
      owners.put(lock.name, lock.acquire(Durations.LONGEST));
    }
  }

  @Override
  public boolean tryLock() {
    ThreadOwners.Ownership mine = owners.get(lock.name);
    if (mine != null) {
      return reenterIfValid(mine);
    }
    Optional<Hold> hold = lock.tryAcquire();
    hold.ifPresent(got -> owners.put(lock.name, got));
    return hold.isPresent();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    ThreadOwners.Ownership mine = owners.get(lock.name);
    if (mine != null) {
      return reenterIfValid(mine);
    }
    Duration wait = Duration.ofNanos(unit.toNanos(Math.max(0, time)));
    try {
      owners.put(
          lock.name,
          lock.acquire(wait.compareTo(Durations.LONGEST) > 0 ? Durations.LONGEST : wait));
      return true;
    } catch (LockTimeoutException e) {
      return false;
    }
  }

  /** Enters again if the thread owns the lock; fails if it has lost it. */
  private boolean reenter() {
    ThreadOwners.Ownership mine = owners.get(lock.name);
    if (mine == null) {
      return false;
    }
    if (!reenterIfValid(mine)) {
      throw mine.hold.lossException();
    }
    return true;
  }

  private static boolean reenterIfValid(ThreadOwners.Ownership mine) {
    if (!mine.hold.isValid()) {
      return false;
    }
    if (mine.count == Integer.MAX_VALUE) {
      throw new Error("Maximum lock count exceeded");
    }
    mine.count++;
    return true;
  }

  @Override
  public void unlock() {
    ThreadOwners.Ownership mine = owned();
    mine.count--;
    if (mine.count > 0) {
      return;
    }
    owners.remove(lock.name);
    if (mine.hold.release() == ReleaseOutcome.ALREADY_LOST) {
      throw mine.hold.lossException();
    }
  }

  private ThreadOwners.Ownership owned() {
    ThreadOwners.Ownership mine = owners.get(lock.name);
    if (mine == null) {
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
    ThreadOwners.Ownership mine = owners.get(lock.name);
    return mine == null ? 0 : mine.count;
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
