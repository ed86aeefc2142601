package io.fenceline.bench.migration;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import java.time.Duration;

final class AfterCurator {
  private AfterCurator() {}

  static void run(String servers, Runnable work) throws InterruptedException {
    try (Fenceline fenceline = Fenceline.connect("zookeeper://" + servers + "/locks")) {
      FencedLock lock = fenceline.lock("ledger");
      lock.tryRun(Duration.ofSeconds(10), hold -> work.run());
    }
  }
}
