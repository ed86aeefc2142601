package io.fenceline.runtime;

import io.fenceline.FencedLock;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.spi.Mode;

/** The lock of a name, exclusive or shared, and its view as a lock that threads own. */
final class NamedLock extends LeaseLock<Hold> implements FencedLock {
  private final Mode mode;
  private final ThreadOwners owners;

  NamedLock(Engine engine, String name, Mode mode, LockOptions options, ThreadOwners owners) {
    super(engine, name, mode, options, LockHandle::new);
    this.mode = mode;
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
    return new ThreadLock(this, mode == Mode.SHARED, owners);
  }

  @Override
  public String toString() {
    return "FencedLock '" + name + "'" + (mode == Mode.SHARED ? " (shared)" : "");
  }
}
