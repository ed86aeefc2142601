package io.fenceline.runtime;

import io.fenceline.FencedLock;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.spi.Mode;

/** The lock of a name: an exclusive lease lock, and its view by thread. */
final class ExclusiveLock extends LeaseLock<Hold> implements FencedLock {
  private final ThreadOwners owners;

  ExclusiveLock(
      Engine engine, Queues queues, String name, LockOptions options, ThreadOwners owners) {
    super(engine, queues, name, Mode.EXCLUSIVE, options, LockHandle::new);
    this.owners = owners;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public LockOptions options() {
    return options;
  }

  @Override
  public ReentrantFencedLock asReentrantLock() {
    return new ThreadLock(this, owners);
  }

  @Override
  public String toString() {
    return "FencedLock '" + name + "'";
  }
}
