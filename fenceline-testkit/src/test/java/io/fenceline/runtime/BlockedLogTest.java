package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.log.LogCapture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.event.Level;

/** A log that stands still, as a terminal does after Ctrl-S, or a pipe that nobody reads. */
class BlockedLogTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  /** More than the threads that tell of losses. */
  private static final int HOLDS = 300;

  @Test
  void logThatFails_isWrittenToAgain() {
    // The line, and the report that it could not be written.
    try (LogCapture log = LogCapture.failing(2);
        Fenceline client = Fenceline.builder().store("memory:failing-log").connect()) {
      Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
      hold.release();
      Eventually.until(BOUND, "the log", () -> !log.lines().isEmpty());
      client.lock("ledger").tryAcquire().orElseThrow().release();
      Eventually.until(
          BOUND,
          "a later line",
          () -> log.at(Level.DEBUG).stream().filter(line -> line.contains("released")).count() > 0);
    }
  }

  @Test
  @Timeout(120) // Also those who acquire would wait for the log.
  void blockedLog_keepsNobodyFromHearingOfALoss() {
    CountDownLatch scrolling = new CountDownLatch(1);
    AtomicInteger told = new AtomicInteger();
    AtomicInteger toldClient = new AtomicInteger();
    LockListener listener =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            if (event instanceof Lost) {
              toldClient.incrementAndGet();
            }
          }
        };
    List<CompletableFuture<Lost>> lost = new ArrayList<>();
    try (LogCapture log = LogCapture.blocking(scrolling);
        Fenceline client =
            Fenceline.builder().store("memory:blocked-log").listener(listener).connect()) {
      LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofMillis(200));
      for (int i = 0; i < HOLDS; i++) {
        Hold hold = client.lock("name-" + i, fixed).tryAcquire().orElseThrow();
        hold.onLost(how -> told.incrementAndGet());
        lost.add(hold.lost());
      }
      Eventually.until(BOUND, "the futures", () -> lost.stream().allMatch(each -> each.isDone()));
      Eventually.until(BOUND, "the holds' listeners", () -> told.get() == HOLDS);
      Eventually.until(BOUND, "the client's listener", () -> toldClient.get() == HOLDS);

      scrolling.countDown();
      Eventually.until(BOUND, "the log", () -> log.at(Level.WARN).size() == HOLDS);
      assertThat(log.at(Level.WARN)).allMatch(line -> line.contains("is lost"));
    } finally {
      scrolling.countDown();
    }
  }
}
