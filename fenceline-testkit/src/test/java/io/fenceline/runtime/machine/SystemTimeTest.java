package io.fenceline.runtime.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.Eventually;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The machine's time on a machine that has no threads left for a while. */
class SystemTimeTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final AtomicInteger refused = new AtomicInteger();
  private String refusing = "";
  private final SystemTime time = new SystemTime(this::threads, null);

  private ThreadFactory threads(String of) {
    return task ->
        new Thread(task, of) {
          @Override
          public void start() {
            if (of.equals(refusing) && refused.getAndDecrement() > 0) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            setDaemon(true);
            super.start();
          }
        };
  }

  @AfterEach
  void close() {
    time.close();
  }

  @Test
  void taskWhoseThreadCannotBeStarted_isRunLater_thoughNoOtherComes() {
    refusing = "loss";
    refused.set(3);
    CountDownLatch ran = new CountDownLatch(1);

    time.lane(Lane.LOSS).execute(ran::countDown);

    Eventually.until(BOUND, "the task", () -> ran.getCount() == 0);
  }

  @Test
  void timerWhoseThreadCannotBeStarted_firesWithTheNext_unlessItIsCancelled() {
    refusing = "timer";
    refused.set(2);
    CountDownLatch fired = new CountDownLatch(2);
    AtomicInteger cancelled = new AtomicInteger();

    time.schedule(0, fired::countDown);
    Time.Timer unwanted = time.schedule(0, cancelled::incrementAndGet);
    unwanted.cancel();
    time.schedule(1, fired::countDown);

    Eventually.until(BOUND, "the timers", () -> fired.getCount() == 0);
    assertThat(cancelled).as("fired, though cancelled").hasValue(0);
  }
}
