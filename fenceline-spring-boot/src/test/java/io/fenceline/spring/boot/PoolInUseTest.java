package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pool that the application uses up; a class of its own, since it mostly waits. */
@Timeout(600)
class PoolInUseTest {

  /** A pool that is in use loses no hold, since renewals don't need it; for three leases. */
  @Test
  void poolThatIsInUse_forThreeLeases_losesNoHold() {
    try (PostgresServer postgres = PostgresServer.start()) {
      Boot.withDataSource()
          .withPropertyValues(
              "spring.datasource.url=" + postgres.jdbcUrl(),
              "spring.datasource.username=" + postgres.user(),
              "spring.datasource.password=" + postgres.password(),
              "spring.datasource.hikari.maximum-pool-size=2",
              "fenceline.lease=4s")
          .run(
              context -> {
                DataSource pool = context.getBean(DataSource.class);
                Hold hold =
                    context.getBean(Fenceline.class).lock("pool").tryAcquire().orElseThrow();
                try (Connection one = pool.getConnection();
                    Connection two = pool.getConnection()) {
                  assertThat(one.isValid(1) && two.isValid(1)).isTrue();
                  long start = System.nanoTime();
                  Eventually.until(
                      Duration.ofMinutes(1),
                      "three leases to pass",
                      () -> System.nanoTime() - start > Duration.ofSeconds(12).toNanos());
                  assertThat(hold.isValid()).isTrue();
                  assertThat(connections(postgres))
                      .as("the pool's two, and one for renewals")
                      .isEqualTo(3);
                }
                hold.close();
              });
    }
  }

  private static int connections(PostgresServer postgres) {
    return Integer.parseInt(
        postgres
            .sql(
                "SELECT count(*) FROM pg_stat_activity"
                    + " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
            .strip());
  }
}
