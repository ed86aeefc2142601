package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Contended;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingNoticeTest {
  private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

  private static LockReport held(String label, Duration age) {
    return new LockReport(
        "x",
        List.of(
            new LockReport.Holder(
                "id", label, "host", 7, "exclusive", 256, NOW.minus(age), Duration.ofSeconds(20))),
        List.of());
  }

  private static String text(String holder, LockReport report) {
    return WaitingNotice.text(new Contended("x", 1, holder), report, NOW);
  }

  @Test
  void theHolderIsNamed_andForHowLongItHasHadTheLock() {
    assertThat(text("worker-7", held("worker-7", Duration.ofMillis(192_345))))
        .isEqualTo("waiting for lock 'x', held by worker-7 for 3m12s");
    assertThat(text("worker-7", held("worker-7", Duration.ofSeconds(59))))
        .endsWith("held by worker-7 for 59s");
    assertThat(text(null, held("worker-7", Duration.ofHours(30))))
        .endsWith("held by worker-7 for 30h");
  }

  @Test
  void aStoreWhoseClockIsAhead_orThatShowsAnotherHolderByNow_inventsNoAge() {
    assertThat(text("worker-7", held("worker-7", Duration.ofSeconds(-5))))
        .endsWith("held by worker-7 for 0s");
    assertThat(text("worker-7", held("worker-8", Duration.ofMinutes(1))))
        .isEqualTo("waiting for lock 'x', held by worker-7");
    assertThat(text(null, null)).isEqualTo("waiting for lock 'x', held by another");
  }
}
