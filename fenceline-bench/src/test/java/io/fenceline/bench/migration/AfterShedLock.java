package io.fenceline.bench.migration;

import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.JdbcStores;
import java.time.Duration;
import javax.sql.DataSource;

final class AfterShedLock {
  private AfterShedLock() {}

  static void run(DataSource dataSource, Runnable work) {
    Duration atLeast = Duration.ofSeconds(30);
    LockOptions once = LockOptions.defaults().keepAtLeast(atLeast);
    try (Fenceline fenceline = Fenceline.builder().store(JdbcStores.from(dataSource)).connect()) {
      fenceline.lock("nightly-report", once).tryRun(hold -> work.run());
    }
  }
}
