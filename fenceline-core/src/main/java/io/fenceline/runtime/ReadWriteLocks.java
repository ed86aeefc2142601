package io.fenceline.runtime;

import io.fenceline.FencedLock;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.LockOptions;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/** The exclusive and the shared lock of one name. */
record ReadWriteLocks(FencedLock writeLock, FencedLock readLock) implements FencedReadWriteLock {

  @Override
  public String name() {
    return writeLock.name();
  }

  @Override
  public LockOptions options() {
    return writeLock.options();
  }

  @Override
  public ReadWriteLock asReadWriteLock() {
    return new View(readLock.asReentrantLock(), writeLock.asReentrantLock());
  }

  /** Both as locks that threads own. */
  private record View(Lock readLock, Lock writeLock) implements ReadWriteLock {}
}
