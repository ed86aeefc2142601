package io.fenceline.bench.contender;

import java.util.concurrent.locks.Lock;

/** A cycle of whatever has the shape of Java's own lock. */
final class JavaLock {
  private JavaLock() {}

  static Contender.Cycle cycle(Lock lock) {
    return section -> {
      lock.lock();
      try {
        section.run(0);
      } finally {
        lock.unlock();
      }
    };
  }
}
