package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testbed.process.ProcessState;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MySqlServerTest {

  @Test
  void whatIsCommittedSurvivesAKill_theClockCanBeSet_andItStopsInGoodOrder() {
    try (MySqlServer mysql =
        MySqlServer.builder().fakeTime().setting("max-connections", "42").start()) {
      assertThat(mysql.sql("SELECT VERSION(), @@max_connections")).isEqualTo("8.0.12\t42");
      mysql.sql("CREATE TABLE t (x int) ENGINE=InnoDB; INSERT INTO t VALUES (1), (2)");
      mysql.kill();
      mysql.restart();
      assertThat(mysql.sql("SELECT x FROM t ORDER BY x")).isEqualTo("1\n2");

      mysql.clockOffset(Duration.ofMinutes(10));
      long clock = Long.parseLong(mysql.sql("SELECT UNIX_TIMESTAMP()"));
      assertThat(clock - Instant.now().getEpochSecond()).isBetween(597L, 603L);

      mysql.stop();
      assertThat(mysql.state()).isEqualTo(ProcessState.GONE);
      assertThat(mysql.logFile()).content().contains("Shutdown complete");
    }
  }
}
