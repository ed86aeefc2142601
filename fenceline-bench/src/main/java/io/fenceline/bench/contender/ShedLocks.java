package io.fenceline.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock on JDBC, by the database's clock; it does not wait, so only free names are asked for.
 */
final class ShedLocks implements Contender {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final HikariDataSource pool;
  private final JdbcTemplateLockProvider provider;

  ShedLocks(String address) throws SQLException {
    this.pool = Database.pool(address, Database.USUAL_SIZE);
    Database.create(
        pool,
        "shedlock (name varchar(64) NOT NULL PRIMARY KEY, lock_until timestamp(3) NOT NULL,"
            + " locked_at timestamp(3) NOT NULL, locked_by varchar(255) NOT NULL)");
    this.provider =
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
  }

  @Override
  public Cycle on(String name) {
    return section -> {
      LockConfiguration wanted = new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO);
      SimpleLock lock =
          provider.lock(wanted).orElseThrow(() -> new IllegalStateException("not free"));
      try {
        section.run(0);
      } finally {
        lock.unlock();
      }
    };
  }

  @Override
  public void close() {
    pool.close();
  }
}
