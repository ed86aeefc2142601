package io.fenceline.runtime;

import io.fenceline.Acquirable;
import io.fenceline.FencedLock;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.Hold;

/** Two modes of one name. */
record ReadWriteLocks(FencedLock writeLock, Acquirable<Hold> readLock)
    implements FencedReadWriteLock {

  @Override
  public String name() {
    return writeLock.name();
  }
}
