package io.fenceline.runtime.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The threads behind the lanes of the machine's time. */
class WorkersTest {
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final int ROUNDS = 20_000;

  private final List<Thread> started = new ArrayList<>();
  private final AtomicInteger thrown = new AtomicInteger();
  private final ThreadFactory factory =
      task -> {
        Thread thread = new Thread(task, "worker");
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((where, what) -> thrown.incrementAndGet());
        synchronized (started) {
          started.add(thread);
        }
        return thread;
      };

  @Test
  void taskThatComesWhenTheOnlyThreadIsAboutToEnd_isRun() throws InterruptedException {
    // Idle for a microsecond: at the end of each round the thread may be ending, or has ended.
    Workers workers = new Workers(1, 1, TimeUnit.MICROSECONDS, factory);
    for (int i = 0; i < ROUNDS; i++) {
      CountDownLatch ran = new CountDownLatch(1);
      workers.execute(ran::countDown);
      assertThat(ran.await(30, TimeUnit.SECONDS)).as("round %d", i).isTrue();
    }
    assertThat(started.size()).as("threads, one after another").isGreaterThan(1);
    Eventually.until(BOUND, "the last thread to end", () -> workers.threads() == 0);
  }

  @Test
  void tasksThatWaitForEachOther_getAThreadEach_andIdleThreadsAreUsedAgain() throws Exception {
    Workers workers = new Workers(3, 1, TimeUnit.MINUTES, factory);
    CountDownLatch together = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      workers.execute(
          () -> {
            together.countDown();
            await(together);
          });
    }
    await(together);
    for (int i = 0; i < 100; i++) {
      CountDownLatch ran = new CountDownLatch(1);
      workers.execute(ran::countDown);
      await(ran);
    }
    assertThat(workers.threads()).isEqualTo(3);
    assertThat(started).hasSize(3);
    workers.close();
    Eventually.until(BOUND, "the threads to end", () -> workers.threads() == 0);
  }

  @Test
  void oneTaskAfterAnother_startsNoMoreThreadsThanAreBusy() throws Exception {
    Workers workers = new Workers(8, 1, TimeUnit.MINUTES, factory);
    for (int i = 0; i < 100; i++) {
      CountDownLatch ran = new CountDownLatch(1);
      workers.execute(ran::countDown);
      await(ran);
      Eventually.until(BOUND, "the thread to be idle", () -> workers.idle() == workers.threads());
    }
    assertThat(started).hasSize(1);
    workers.close();
  }

  @Test
  void taskThatThrows_isReported_andTakesNothingWithIt() throws Exception {
    Workers workers = new Workers(1, 1, TimeUnit.MINUTES, factory);
    CountDownLatch ran = new CountDownLatch(1);
    workers.execute(
        () -> {
          throw new StackOverflowError("deep in a callback");
        });
    workers.execute(ran::countDown);
    await(ran);
    assertThat(thrown).hasValue(1);
    assertThat(started).hasSize(1);
    workers.close();
  }

  @Test
  void threadThatCannotBeStarted_costsNoTask() throws Exception {
    AtomicInteger refused = new AtomicInteger(1);
    Workers workers =
        new Workers(
            2,
            1,
            TimeUnit.MINUTES,
            task -> {
              if (refused.getAndDecrement() > 0) {
                throw new InternalError("unable to create native thread");
              }
              return factory.newThread(task);
            });
    CountDownLatch both = new CountDownLatch(2);
    workers.execute(both::countDown); // Whoever hands it in has other things to do.

    workers.execute(both::countDown);

    await(both);
    workers.close();
  }

  @Test
  void threadOfATask_whoseHandlerThrowsToo_keepsNoPlace() throws Exception {
    AtomicInteger handled = new AtomicInteger();
    Workers workers =
        new Workers(
            1,
            1,
            TimeUnit.MINUTES,
            task -> {
              Thread thread = factory.newThread(task);
              thread.setUncaughtExceptionHandler(
                  (where, what) -> {
                    handled.incrementAndGet();
                    throw new IllegalStateException("a handler that fails", what);
                  });
              return thread;
            });
    CountDownLatch ran = new CountDownLatch(1);
    workers.execute(
        () -> {
          throw new StackOverflowError("deep in a callback");
        });
    workers.execute(ran::countDown);
    await(ran);
    assertThat(handled).hasValue(1);
    workers.close();
    Eventually.until(BOUND, "the threads to end", () -> workers.threads() == 0);
  }

  @Test
  void interruptThatATaskLeavesBehind_doesNotReachTheNext() throws Exception {
    Workers workers = new Workers(1, 1, TimeUnit.MINUTES, factory);
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch ran = new CountDownLatch(1);
    AtomicInteger interrupted = new AtomicInteger();
    workers.execute(
        () -> {
          await(go);
          Thread.currentThread().interrupt();
        });
    workers.execute(
        () -> {
          if (Thread.currentThread().isInterrupted()) {
            interrupted.incrementAndGet();
          }
          ran.countDown();
        });
    go.countDown();
    await(ran);
    assertThat(interrupted).hasValue(0);
    workers.close();
  }

  @Test
  void closed_runsWhatWaits_andTakesNoMore() throws Exception {
    Workers workers = new Workers(1, 1, TimeUnit.MINUTES, factory);
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch ran = new CountDownLatch(2);
    workers.execute(
        () -> {
          await(go);
          ran.countDown();
        });
    workers.execute(ran::countDown);

    workers.close();
    go.countDown();

    await(ran);
    assertThatThrownBy(() -> workers.execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);
  }

  private static void await(CountDownLatch latch) {
    Eventually.until(BOUND, "the tasks", () -> latch.getCount() == 0);
  }
}
