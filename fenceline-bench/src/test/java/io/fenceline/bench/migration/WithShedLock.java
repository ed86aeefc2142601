package io.fenceline.bench.migration;

import java.time.Duration;
import java.time.Instant;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

final class WithShedLock {
  private WithShedLock() {}

  static void run(DataSource dataSource, Runnable work) {
    LockingTaskExecutor executor =
        new DefaultLockingTaskExecutor(new JdbcTemplateLockProvider(dataSource));
    Duration atMost = Duration.ofMinutes(10);
    Duration atLeast = Duration.ofSeconds(30);
    executor.executeWithLock(
        work, new LockConfiguration(Instant.now(), "nightly-report", atMost, atLeast));
  }
}
