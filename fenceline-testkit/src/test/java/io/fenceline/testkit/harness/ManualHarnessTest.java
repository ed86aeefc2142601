package io.fenceline.testkit.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Lane;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Time that a test owns, beside threads that nobody owns. */
class ManualHarnessTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration LEAP = Duration.ofSeconds(60);

  private final AtomicReference<ManualTime> made = new AtomicReference<>();
  private final StoreHarness harness =
      StoreHarness.onManualTime(
          time -> {
            made.set(time);
            return MemorySpace.create(time::wallMillis).factory();
          });
  private final ManualTime time = made.get();

  @AfterEach
  void close() {
    harness.close();
    time.close();
  }

  /** Starts work of a lane in a thread of its own. */
  private Thread working(Runnable work) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () ->
                time.lane(Lane.WORK)
                    .execute(
                        () -> {
                          begun.countDown();
                          work.run();
                        }));
    thread.start();
    assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return thread;
  }

  private Thread elapsing() {
    Thread thread = new Thread(() -> harness.elapse(LEAP));
    thread.start();
    return thread;
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.TIMED_WAITING;
  }

  /** As the thread of a bell that looks for a waiter, and is slow. */
  @Test
  void timeDoesNotPass_whileAnotherThreadIsBusyForAClient() throws Exception {
    AtomicReference<Thread> elapsing = new AtomicReference<>();
    CompletableFuture<Long> seen = new CompletableFuture<>();
    Thread busy =
        working(
            () -> {
              Thread other;
              while ((other = elapsing.get()) == null || (other.isAlive() && !isWaiting(other))) {
                Thread.onSpinWait();
              }
              seen.complete(time.nanos());
            });
    elapsing.set(elapsing());

    assertThat(seen.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isZero();
    busy.join();
    elapsing.get().join();
    assertThat(time.nanos()).isEqualTo(LEAP.toNanos());
  }

  @Test
  void workThatWaitsForTimeToPass_doesNotKeepItFromPassing() throws Exception {
    Thread waiting = working(() -> time.park(this, LEAP.toNanos()));
    time.awaitParked(1);

    harness.elapse(LEAP);

    Eventually.until(BOUND, "the work to end", () -> !waiting.isAlive());
  }

  @Test
  void workThatWaitsForSomeoneElse_doesNotKeepItFromPassing() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    Thread waiting =
        working(
            () -> {
              try {
                over.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    Eventually.until(BOUND, "it to wait", () -> waiting.getState() == Thread.State.WAITING);

    harness.elapse(LEAP);

    over.countDown();
    waiting.join();
    assertThat(time.nanos()).isEqualTo(LEAP.toNanos());
  }
}
