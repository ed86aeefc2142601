package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A {@code java.util.concurrent.locks.Lock} waits for as long as it says, however it asks. */
class RetryingThreadLockTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Fenceline client = connect();
  private final Fenceline other = connect();
  private final ReentrantFencedLock lock =
      client
          .lock(
              "ledger",
              LockOptions.defaults()
                  .waiting(WaitStrategy.retry(2, Duration.ofMillis(10), Duration.ZERO)))
          .asReentrantLock();

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Fenceline connect() {
    return Fenceline.builder().store(space.factory()).time(time).connect();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  /** Starts a call while another client holds the lock, which is released an hour later. */
  private <T> T lockedAnHourLater(Callable<T> call) throws Exception {
    Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "caller");
    thread.setDaemon(true);
    thread.start();
    time.awaitParked(1);
    time.advance(Duration.ofHours(1));
    assertThat(task.isDone()).as("gave up").isFalse();
    inTheWay.release();
    Eventually.until(
        BOUND,
        "the lock",
        () -> {
          time.advance(Duration.ofMillis(10));
          return task.isDone();
        });
    return task.get();
  }

  @Test
  void lock_waits() throws Exception {
    assertThat(
            lockedAnHourLater(
                () -> {
                  lock.lock();
                  return lock.holdCount();
                }))
        .isOne();
  }

  @Test
  void lockInterruptibly_waits() throws Exception {
    assertThat(
            lockedAnHourLater(
                () -> {
                  lock.lockInterruptibly();
                  return lock.holdCount();
                }))
        .isOne();
  }

  @Test
  void tryLock_waitsForItsTime() throws Exception {
    assertThat(lockedAnHourLater(() -> lock.tryLock(2, TimeUnit.HOURS))).isTrue();
  }
}
