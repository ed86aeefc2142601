package io.fenceline.runtime;

import io.fenceline.Acquirable;
import io.fenceline.FencedSemaphore;
import io.fenceline.LockOptions;
import io.fenceline.PermitHold;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.Mode;

/** A semaphore: a lease lock that takes one permit, or several with {@link #several}. */
final class PermitLock extends LeaseLock<PermitHold> implements FencedSemaphore {
  private final int total;

  PermitLock(Engine engine, String name, int count, int total, LockOptions options) {
    super(engine, name, Mode.permits(count, total), options, PermitHandle::new);
    this.total = total;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int permits() {
    return total;
  }

  @Override
  public Acquirable<PermitHold> several(int count) {
    if (count < 1 || count > total) {
      throw new InvalidSettingException("permits", count, "lock '" + name + "' has 1 to " + total);
    }
    return new PermitLock(engine, name, count, total, options);
  }
}
