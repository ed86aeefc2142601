package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Running work under a lock. */
abstract class TaskBehaviour extends Scenario {

  TaskBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void call_givesTheResult_andReleases() throws InterruptedException {
    long token =
        a.lock(ledger)
            .call(
                ample,
                hold -> {
                  assertThat(b.tryTake(ledger)).isEmpty();
                  return hold.token();
                });

    assertThat(token).isPositive();
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void run_passesTheTasksOwnExceptionOn_andReleases() {
    assertThatThrownBy(
            () ->
                a.lock(ledger)
                    .run(
                        ample,
                        hold -> {
                          throw new IOException("disk full");
                        }))
        .isInstanceOf(IOException.class)
        .hasMessage("disk full")
        .hasNoSuppressedExceptions();
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void run_saysThatTheLockWasLostMeanwhile() {
    assertThatThrownBy(() -> a.lock(ledger, fixed()).run(ample, hold -> elapse(lease)))
        .isInstanceOfSatisfying(
            LockLostException.class, lost -> assertThat(lost.name()).isEqualTo(ledger));
  }

  @Test
  void loss_isSuppressedUnderTheTasksOwnException() {
    assertThatThrownBy(
            () ->
                a.lock(ledger, fixed())
                    .run(
                        ample,
                        hold -> {
                          elapse(lease);
                          throw new IOException("disk full");
                        }))
        .isInstanceOf(IOException.class)
        .satisfies(
            thrown ->
                assertThat(thrown.getSuppressed())
                    .singleElement()
                    .isInstanceOf(LockLostException.class));
  }

  @Test
  void run_waitsForItsTurn_andTimesOut() {
    a.take(ledger);

    assertThatThrownBy(() -> b.lock(ledger).run(Duration.ZERO, hold -> assertThat(hold).isNull()))
        .isInstanceOf(LockTimeoutException.class);
  }

  @Test
  void workLimit_interruptsTheTask_andReleases() {
    CountDownLatch started = new CountDownLatch(1);
    Duration limit = lease.dividedBy(2);
    Blocked<Boolean> task =
        inThread(
            () -> {
              a.lock(ledger)
                  .run(
                      ample,
                      limit,
                      hold -> {
                        started.countDown();
                        new CountDownLatch(1).await();
                      });
              return true;
            });
    await("the task", () -> started.getCount() == 0);

    elapse(limit);

    assertThat(task.failure())
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            overrun -> {
              assertThat(overrun.limit()).isEqualTo("work limit");
              assertThat(overrun.allowed()).isEqualTo(Durations.show(limit));
              assertThat(overrun).hasMessageContaining("'" + ledger + "'");
            });
    assertThat(task.wasInterruptedAtTheEnd()).isFalse();
    awaitFree(b, ledger);
  }

  @Test
  void taskBelowItsWorkLimit_isLeftAlone() throws InterruptedException {
    String result = a.lock(ledger).call(ample, lease.dividedBy(2), hold -> "done");

    assertThat(result).isEqualTo("done");
    elapse(lease);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void workLimitAtOrAboveAFixedLease_isRefused() {
    assertThatThrownBy(() -> a.lock(ledger, fixed()).run(ample, lease, hold -> {}))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("fixed lease");
    assertThat(a.inspect(ledger).isFree()).isTrue();
  }

  @Test
  void callAsync_releasesWhenTheStageCompletes() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<String> result = a.lock(ledger).callAsync(ample, hold -> work);
    await("the lock", () -> !b.inspect(ledger).isFree());
    assertThat(result).isNotDone();

    work.complete("done");

    assertThat(get(result)).isEqualTo("done");
    awaitFree(b, ledger);
  }

  @Test
  void callAsync_failsWithTheTask_andReleases() {
    CompletableFuture<String> result =
        a.lock(ledger)
            .callAsync(ample, hold -> CompletableFuture.failedFuture(new IOException("disk full")));

    assertThat(failure(result)).isInstanceOf(IOException.class);
    awaitFree(b, ledger);
  }

  @Test
  void callAsync_saysThatTheLockWasLostMeanwhile() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<String> result = a.lock(ledger, fixed()).callAsync(ample, hold -> work);
    await("the lock", () -> !b.inspect(ledger).isFree());

    elapse(lease);
    work.complete("done");

    assertThat(failure(result)).isInstanceOf(LockLostException.class);
  }

  @Test
  void hold_closesWithItsBlock() throws InterruptedException {
    try (Hold hold = a.lock(ledger).acquire(ample)) {
      assertThat(hold.isValid()).isTrue();
      assertThat(b.tryTake(ledger)).isEmpty();
    }

    assertThat(b.tryTake(ledger)).isPresent();
  }
}
