package io.fenceline.bench.migration;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import java.time.Duration;

final class AfterOwnLock {
  private AfterOwnLock() {}

  static void run(String address, Runnable work) throws InterruptedException {
    try (Fenceline fenceline = Fenceline.connect(address)) {
      FencedLock lock = fenceline.lock("ledger");
      lock.tryRun(Duration.ofSeconds(10), hold -> work.run());
    }
  }
}
