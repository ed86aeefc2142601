package io.fenceline.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock on JDBC; it does not wait, so only free names are asked for. */
final class ShedLocks implements Contender {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** As many as there are threads in any work that it takes part in. */
  private static final int A_CONNECTION_EACH = 32;

  private final HikariDataSource pool;
  private final LockProvider provider;

  private ShedLocks(
      String address, int connections, Function<HikariDataSource, LockProvider> provider)
      throws SQLException {
    this.pool = Database.pool(address, connections);
    // With the types of its documentation. PostgreSQL would round to milliseconds, also upwards: a
    // lock that was just given back would be free half a millisecond later.
    String time = address.startsWith("jdbc:postgresql") ? "timestamp" : "timestamp(3)";
    Database.create(
        pool,
        "shedlock (name varchar(64) NOT NULL PRIMARY KEY, lock_until %1$s NOT NULL, locked_at %1$s NOT NULL, locked_by varchar(255) NOT NULL)"
            .formatted(time));
    this.provider = provider.apply(pool);
  }

  /** As it is mostly used: by the database's clock, each statement in a transaction of Spring's. */
  static ShedLocks usual(String address) throws SQLException {
    return new ShedLocks(
        address,
        Database.USUAL_SIZE,
        pool ->
            new JdbcTemplateLockProvider(
                JdbcTemplateLockProvider.Configuration.builder()
                    .withJdbcTemplate(new JdbcTemplate(pool))
                    .usingDbTime()
                    .build()));
  }

  /** As fast as it gets: by the client's clock, without transactions, a connection each. */
  static ShedLocks plain(String address) throws SQLException {
    return new ShedLocks(address, A_CONNECTION_EACH, JdbcLockProvider::new);
  }

  @Override
  public Cycle on(String name) {
    return section -> {
      LockConfiguration wanted =
          new LockConfiguration(ClockProvider.now(), name, LEASE, Duration.ZERO);
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
