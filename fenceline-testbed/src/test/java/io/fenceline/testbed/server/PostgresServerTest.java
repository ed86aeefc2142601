package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.process.ProcessState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class PostgresServerTest {

  private static final Duration BOUND = Duration.ofSeconds(20);

  @Test
  void whatIsCommittedSurvivesAKill() {
    try (PostgresServer postgres = PostgresServer.start()) {
      assertThat(postgres.sql("SHOW fsync")).isEqualTo("on");
      postgres.sql("CREATE TABLE t (x int); INSERT INTO t VALUES (1), (2)");
      List<ProcessHandle> children =
          ProcessHandle.of(postgres.pid()).orElseThrow().descendants().toList();
      assertThat(children).isNotEmpty();

      postgres.kill();
      assertThat(children).allMatch(child -> ProcessState.of(child.pid()).isEnded());

      postgres.restart();
      assertThat(postgres.sql("SELECT x FROM t ORDER BY x")).isEqualTo("1\n2");
    }
  }

  @Test
  void aPauseStopsAllItsProcesses() {
    try (PostgresServer postgres = PostgresServer.builder().fsync(false).start()) {
      assertThat(postgres.sql("SHOW fsync")).isEqualTo("off");
      postgres.pause();

      List<ProcessHandle> children =
          ProcessHandle.of(postgres.pid()).orElseThrow().descendants().toList();
      assertThat(children)
          .isNotEmpty()
          .allMatch(child -> ProcessState.of(child.pid()) == ProcessState.STOPPED);
      assertThat(postgres.state()).isEqualTo(ProcessState.STOPPED);

      postgres.resume();
      assertThat(postgres.sql("SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void aStandbyFollowsAndRefusesToWrite() {
    try (PostgresServer primary = PostgresServer.builder().fsync(false).start();
        PostgresServer standby = primary.startStandby()) {
      primary.sql("CREATE TABLE t (x int); INSERT INTO t VALUES (7)");
      standby.awaitInSync(BOUND);

      assertThat(standby.sql("SELECT x FROM t")).isEqualTo("7");
      assertThatThrownBy(() -> standby.sql("INSERT INTO t VALUES (8)"))
          .hasMessageContaining("read-only transaction");
    }
  }

  @Test
  void itsClockCanBeSet_andItsSettings() {
    try (PostgresServer postgres =
        PostgresServer.builder()
            .fakeTime()
            .setting("default_transaction_isolation", "serializable")
            .start()) {
      assertThat(postgres.sql("SHOW default_transaction_isolation")).isEqualTo("serializable");
      postgres.clockOffset(Duration.ofMinutes(-5));

      long clock =
          Long.parseLong(postgres.sql("SELECT extract(epoch FROM clock_timestamp())::bigint"));
      assertThat(clock - Instant.now().getEpochSecond()).isBetween(-303L, -297L);
    }
  }
}
