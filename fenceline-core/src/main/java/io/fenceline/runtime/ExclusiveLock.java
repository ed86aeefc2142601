package io.fenceline.runtime;

import io.fenceline.LockOptions;
import io.fenceline.spi.Mode;

/** The lock of a name that one holder has at a time. */
final class ExclusiveLock extends NamedLock {

  ExclusiveLock(
      Engine engine, ClaimQueues queues, String name, LockOptions options, ThreadOwners owners) {
    super(engine, queues, name, Mode.EXCLUSIVE, options, owners);
  }
}
