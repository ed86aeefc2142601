package io.fenceline.bench.contender;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** Java's own lock: no lease, no token, no other process. */
final class ProcessLocks implements Contender {
  private final boolean fair;
  private final ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();

  ProcessLocks(boolean fair) {
    this.fair = fair;
  }

  @Override
  public Cycle on(String name) {
    ReentrantLock lock = locks.computeIfAbsent(name, any -> new ReentrantLock(fair));
    return JavaLock.cycle(lock);
  }
}
