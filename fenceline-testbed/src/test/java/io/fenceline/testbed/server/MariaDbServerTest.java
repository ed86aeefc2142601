package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.process.ProcessState;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MariaDbServerTest {

  @Test
  void whatIsCommittedSurvivesAKill_andTheClockCanBeSet() {
    try (MariaDbServer mariadb =
        MariaDbServer.builder().fakeTime().setting("max-connections", "42").start()) {
      assertThat(mariadb.sql("SELECT @@max_connections")).isEqualTo("42");
      mariadb.sql("CREATE TABLE t (x int) ENGINE=InnoDB; INSERT INTO t VALUES (1), (2)");
      mariadb.kill();
      mariadb.restart();
      assertThat(mariadb.sql("SELECT x FROM t ORDER BY x")).isEqualTo("1\n2");

      mariadb.clockOffset(Duration.ofMinutes(10));
      long clock = Long.parseLong(mariadb.sql("SELECT UNIX_TIMESTAMP()"));
      assertThat(clock - Instant.now().getEpochSecond()).isBetween(597L, 603L);
    }
  }

  @Test
  void runsOnItsOwnClockAndStopsInGoodOrder() {
    try (MariaDbServer mariadb = MariaDbServer.start()) {
      assertThat(mariadb.sql("SELECT CURRENT_USER()")).isEqualTo("fenceline@%");
      mariadb.stop();
      assertThat(mariadb.state()).isEqualTo(ProcessState.GONE);
      assertThat(mariadb.logFile()).content().contains("Shutdown complete");
    }
  }
}
