package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.HeldTooLong;
import io.fenceline.event.LockListener;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.log.LogCapture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** A lock that is held for too long is warned of once, while it is held. */
class WarnAfterTest {
  private static final LockOptions WARNING =
      LockOptions.defaults().warnAfter(Duration.ofSeconds(5));

  private final ManualTime time = new ManualTime();
  private final LogCapture log = LogCapture.open();
  private final List<HeldTooLong> told = new CopyOnWriteArrayList<>();
  private final Fenceline client =
      Fenceline.builder()
          .store(MemorySpace.create(time::wallMillis).factory())
          .time(time)
          .listener(
              new LockListener() {
                @Override
                public void onHeldTooLong(HeldTooLong event) {
                  told.add(event);
                }
              })
          .connect();

  @AfterEach
  void close() {
    client.close();
    log.close();
  }

  private List<String> lines() {
    return log.at(Level.WARN).stream().filter(line -> line.contains("still held")).toList();
  }

  @Test
  void stillHeld_isWarnedOfOnce_withWhoAndSinceWhen() {
    Instant since = Instant.ofEpochMilli(time.wallMillis());
    Hold hold = client.lock("ledger", WARNING).tryAcquire().orElseThrow();
    time.advance(Duration.ofMillis(4_999));
    assertThat(told).isEmpty();

    time.advance(Duration.ofMillis(1));
    time.advance(Duration.ofMinutes(1));

    String thread = Thread.currentThread().getName();
    assertThat(told)
        .containsExactly(
            new HeldTooLong(
                "ledger", hold.id(), hold.token(), since, Duration.ofSeconds(5), thread, null));
    assertThat(lines())
        .containsExactly(
            "Lock 'ledger' is still held after 5s (id=%s, token=%d, since=%s, thread=%s, store=memory:)"
                .formatted(hold.id(), hold.token(), since, thread));
    assertThat(hold.isValid()).isTrue();
    hold.release();
  }

  @Test
  void withLeakTrace_theWarningHasTheStack() {
    Hold hold = client.lock("ledger", WARNING.leakTrace()).tryAcquire().orElseThrow();
    time.advance(Duration.ofSeconds(5));

    assertThat(told.get(0).acquiredAt().getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("withLeakTrace_theWarningHasTheStack"));
    hold.release();
  }

  @Test
  void releasedOrLostInTime_isNoWarning_andLeavesNoTimer() {
    client.lock("ledger").tryAcquire().orElseThrow().release();
    int timers = time.timers();
    client.lock("ledger", WARNING).tryAcquire().orElseThrow().release();
    assertThat(time.timers()).isEqualTo(timers);
    Hold lost = client.lock("ledger", WARNING).tryAcquire().orElseThrow();
    client.forceRelease("ledger", lost.token());
    lost.release();
    time.advance(Duration.ofMinutes(1));

    assertThat(told).isEmpty();
    assertThat(lines()).isEmpty();
  }
}
