package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The calls without a limit, those that answer instead of throwing, and work that is skipped. */
abstract class CallBehaviour extends Scenario {

  CallBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @SuppressWarnings("MustBeClosedChecker") // The test decides when it is released.
  private static <H extends Held> H acquire(Acquirable<H> lock) throws InterruptedException {
    return lock.acquire();
  }

  @Test
  void acquireWithoutALimit_waitsForTheHolder_howeverLong() {
    Hold first = a.take(ledger);
    Blocked<Hold> waiting = inThread(() -> acquire(b.lock(ledger)));
    CompletableFuture<Hold> waitingToo = c.lock(ledger).acquireAsync();
    awaitContended(b, ledger, 1);
    awaitContended(c, ledger, 1);
    elapse(lease);
    assertThat(waiting.isDone()).isFalse();
    assertThat(waitingToo.isDone()).isFalse();

    first.release();

    elapseUntil("one of the two", () -> waiting.isDone() || waitingToo.isDone());
    if (waiting.isDone()) {
      waiting.result().release();
      elapseUntil("the other one", waitingToo::isDone);
    } else {
      waitingToo.join().release();
      elapseUntil("the other one", waiting::isDone);
    }
    assertThat(waiting.result().token()).isNotEqualTo(waitingToo.join().token());
  }

  @Test
  void acquireWithoutALimit_canBeInterrupted_andCancelled() {
    Hold first = a.take(ledger);
    Blocked<Hold> waiting = inThread(() -> acquire(b.lock(ledger)));
    CompletableFuture<Hold> waitingToo = c.lock(ledger).acquireAsync();
    awaitContended(b, ledger, 1);
    awaitContended(c, ledger, 1);

    waiting.interrupt();
    waitingToo.cancel(false);

    assertThat(waiting.failure()).isInstanceOf(InterruptedException.class);
    first.release();
    awaitFree(a, ledger);
  }

  @Test
  void tryAcquireWithAWait_answersEmpty_whenOthersKeepIt() throws InterruptedException {
    a.take(ledger);
    // Long enough for the store to have said that they wait: its silence would be an error.
    Blocked<Optional<Hold>> waiting = inThread(() -> b.lock(ledger).tryAcquire(lease));
    CompletableFuture<Optional<Hold>> waitingToo = c.lock(ledger).tryAcquireAsync(lease);

    elapseUntil("both to give up", () -> waiting.isDone() && waitingToo.isDone());

    assertThat(waiting.result()).isEmpty();
    assertThat(waitingToo.join()).isEmpty();
    assertThat(b.lock(ledger).tryAcquire(Duration.ZERO)).isEmpty();
  }

  @Test
  void tryAcquireWithAWait_isGrantedWhenTheHolderReleases() {
    Hold first = a.take(ledger);
    Blocked<Optional<Hold>> waiting = inThread(() -> b.lock(ledger).tryAcquire(ample));
    awaitContended(b, ledger, 1);

    first.release();

    elapseUntil("the grant", waiting::isDone);
    Hold second = waiting.result().orElseThrow();
    assertThat(second.token()).isGreaterThan(first.token());
    CompletableFuture<Optional<Hold>> third = c.lock(ledger).tryAcquireAsync(ample);
    awaitContended(c, ledger, 1);
    second.release();
    elapseUntil("the grant", third::isDone);
    assertThat(third.join()).isPresent();
  }

  @Test
  void tryAcquireWithAWait_answersEmpty_whenRetriesAreUsedUp() {
    Hold held = a.take(ledger);
    WaitStrategy twice = WaitStrategy.retry(1, Duration.ofMillis(1), Duration.ZERO);
    CompletableFuture<Optional<Hold>> asked =
        b.lock(ledger, renewed().waiting(twice)).tryAcquireAsync(ample);

    elapseUntil("the answer", asked::isDone);

    assertKeptOut(held, asked.join());
  }

  @Test
  void givenUpAnswer_leavesNothingBehind() {
    Hold first = a.take(ledger);
    CompletableFuture<Optional<Hold>> asked = b.lock(ledger).tryAcquireAsync(ample);
    awaitContended(b, ledger, 1);

    asked.completeExceptionally(new IOException("the user's own timeout"));

    first.release();
    awaitFree(a, ledger);
  }

  @Test
  void tryRun_skipsTheWork_whileAnotherHoldsTheLock() throws InterruptedException {
    AtomicInteger runs = new AtomicInteger();
    Hold first = a.take(ledger);

    assertThat(b.lock(ledger).tryRun(hold -> runs.incrementAndGet())).isFalse();
    assertThat(b.lock(ledger).tryRun(Duration.ZERO, hold -> runs.incrementAndGet())).isFalse();
    assertThat(runs).hasValue(0);

    first.release();
    assertThat(b.lock(ledger).tryRun(hold -> runs.incrementAndGet())).isTrue();
    awaitFree(a, ledger);
    assertThat(b.lock(ledger).tryRun(ample, hold -> runs.incrementAndGet())).isTrue();
    assertThat(runs).hasValue(2);
    awaitFree(a, ledger);
  }

  @Test
  void tryCall_givesTheResult_orEmptyWhenSkipped() throws InterruptedException {
    Optional<Long> token = a.lock(ledger).tryCall(Hold::token);
    assertThat(token).isPresent();
    awaitFree(b, ledger);

    a.take(ledger);
    assertThat(b.lock(ledger).tryCall(Hold::token)).isEmpty();
    assertThat(b.lock(ledger).tryCall(Duration.ZERO, Hold::token)).isEmpty();
  }

  @Test
  void tryRun_passesTheWorksOwnExceptionOn_andReleases() {
    assertThatThrownBy(
            () ->
                a.lock(ledger)
                    .tryRun(
                        hold -> {
                          throw new IOException("disk full");
                        }))
        .isInstanceOf(IOException.class)
        .hasMessage("disk full");
    awaitFree(b, ledger);
  }

  @Test
  @SuppressWarnings("NullAway") // Null is what it is about.
  void tryCall_refusesNull_andReleases() {
    assertThatThrownBy(() -> a.lock(ledger).tryCall(hold -> null))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("null");
    awaitFree(b, ledger);
  }
}
