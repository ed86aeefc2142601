package io.fenceline.testkit.contract;

import static io.fenceline.testkit.fault.LossyStore.Fault.HOLD_REPLY;
import static io.fenceline.testkit.fault.LossyStore.Fault.HOLD_REQUEST;
import static io.fenceline.testkit.fault.LossyStore.Operation.CLAIM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.TimedOut;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Cancel, timeout and interrupt, at every stage: whoever gives up leaves nothing behind. */
abstract class GivingUpBehaviour extends Scenario {

  GivingUpBehaviour(LockContract contract) {
    super(contract::harness);
  }

  // While another one holds the lock. -----------------------------------------------------------

  @Test
  void cancelledWait_leavesNoWaiterBehind() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    assertThat(waiting.cancel(true)).isTrue();

    await("the queue to be empty", () -> a.inspect(ledger).waiters().isEmpty());
    hold.release();
    awaitFree(a, ledger);
    assertThat(a.take(ledger).isValid()).isTrue();
  }

  @Test
  void cancelledWait_isPassedOver_whenTheLockIsReleased() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> cancelled = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> next = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    cancelled.cancel(true);
    hold.release();

    assertThat(get(next).isValid()).isTrue();
  }

  @Test
  void waiterInTheMiddleThatGivesUp_letsNobodyIn() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> middle = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> last = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    middle.cancel(true);
    // A store without a queue shows nobody.
    await("the middle one to be gone", () -> a.inspect(ledger).waiters().size() <= 1);
    elapse(lease.dividedBy(4)); // Whoever is woken by that has looked by then.

    assertThat(last).isNotDone();
    assertThat(hold.isValid()).isTrue();
    assertThat(a.inspect(ledger).holders())
        .singleElement()
        .satisfies(holder -> assertThat(holder.token()).isEqualTo(hold.token()));
    hold.release();
    assertThat(get(last).token()).isGreaterThan(hold.token());
  }

  @Test
  void timedOutWait_saysWhoHeldTheLock_andLeavesNoWaiterBehind() {
    Hold hold = a.take(ledger);
    Duration patience = lease.dividedBy(2); // Long enough to be seen waiting.
    Blocked<Hold> waiting = acquiring(b.lock(ledger), patience);
    awaitContended(b, ledger, 1);

    elapse(patience);

    assertThat(waiting.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class,
            timeout -> {
              assertThat(timeout.maxWait()).isEqualTo(patience);
              assertThat(timeout.waited()).isGreaterThanOrEqualTo(patience);
              assertThat(timeout.holder()).contains("a");
              assertThat(timeout.holderToken()).contains(hold.token());
            });
    await("the event", () -> b.events().of(TimedOut.class).size() == 1);
    assertThat(b.events().of(TimedOut.class).get(0).storeSilent()).isFalse();
    await("the queue to be empty", () -> a.inspect(ledger).waiters().isEmpty());
    hold.release();
    awaitFree(a, ledger);
  }

  @Test
  void interruptedWait_leavesNoWaiterBehind() {
    Hold hold = a.take(ledger);
    Blocked<Hold> waiting = acquiring(b.lock(ledger), ample);
    awaitContended(b, ledger, 1);

    waiting.interrupt();

    assertThat(waiting.failure()).isInstanceOf(InterruptedException.class);
    assertThat(waiting.wasInterruptedAtTheEnd()).isFalse();
    await("the queue to be empty", () -> a.inspect(ledger).waiters().isEmpty());
    hold.release();
    awaitFree(a, ledger);
  }

  @Test
  void interruptedThread_doesNotEvenAsk() {
    Blocked<Hold> asking =
        inThread(
            () -> {
              Thread.currentThread().interrupt();
              return acquire(b.lock(ledger), ample);
            });

    assertThat(asking.failure()).isInstanceOf(InterruptedException.class);
    assertThat(b.store().asked(CLAIM)).isZero();
    assertThat(a.inspect(ledger).isFree()).isTrue();
  }

  @Test
  void interruptedThread_mayStillTry() {
    Blocked<Optional<Hold>> trying =
        inThread(
            () -> {
              Thread.currentThread().interrupt();
              return b.tryTake(ledger);
            });

    assertThat(trying.result()).isPresent();
    assertThat(trying.wasInterruptedAtTheEnd()).isTrue();
  }

  @Test
  void whenTheFirstCallerGivesUp_theNextOneOfItsProcessGoesOn() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> first = b.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> second = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 2);

    first.cancel(true);
    hold.release();

    assertThat(get(second).isValid()).isTrue();
  }

  @Test
  void whenTheFirstCallerGivesUp_andTheNextWantsAnotherLease_itIsClaimedAnew() {
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> first = b.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> second =
        b.lock(ledger, fixed().fixedLease(lease.multipliedBy(2))).acquireAsync(ample);
    awaitContended(b, ledger, 2);

    first.cancel(true);
    hold.release();

    assertThat(get(second).lease()).isEqualTo(lease.multipliedBy(2));
    assertThat(a.tryTake(ledger)).isEmpty();
  }

  @Test
  void cancelAfterTheGrant_changesNothing() {
    CompletableFuture<Hold> acquired = a.lock(ledger).acquireAsync(ample);
    Hold hold = get(acquired);

    assertThat(acquired.cancel(true)).isFalse();

    assertThat(hold.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
  }

  // While the claim, or its answer, is under way. -----------------------------------------------

  @Test
  void cancelWhileTheClaimIsUnderWay_leavesTheNameFree() {
    b.store().fault(CLAIM, HOLD_REQUEST);
    CompletableFuture<Hold> asking = b.lock(ledger).acquireAsync(ample);
    await("the claim", () -> b.store().met() == 1);

    asking.cancel(true);
    b.store().heal();

    elapse(Duration.ofMillis(1));
    // The claim may still arrive, and be undone, after the name was seen to be free.
    await("the name to be obtainable", () -> a.lock(ledger).tryAcquire().isPresent());
  }

  @Test
  void cancelWhileTheGrantIsUnderWay_leavesTheNameFree() {
    b.store().fault(CLAIM, HOLD_REPLY);
    CompletableFuture<Hold> asking = b.lock(ledger).acquireAsync(ample);
    await("the grant", () -> !a.inspect(ledger).isFree());

    asking.cancel(true);
    b.store().heal();

    awaitFree(a, ledger);
    assertThat(a.take(ledger).isValid()).isTrue();
  }

  @Test
  void cancelledTry_whoseGrantIsUnderWay_leavesTheNameFree() {
    b.store().fault(CLAIM, HOLD_REPLY);
    CompletableFuture<Optional<Hold>> asking = b.lock(ledger).tryAcquireAsync();
    await("the grant", () -> !a.inspect(ledger).isFree());

    asking.cancel(true);
    b.store().heal();

    awaitFree(a, ledger);
  }

  @Test
  void interruptWhileTheGrantIsUnderWay_leavesTheNameFree() {
    b.store().fault(CLAIM, HOLD_REPLY);
    Blocked<Hold> asking = acquiring(b.lock(ledger), ample);
    await("the grant", () -> !a.inspect(ledger).isFree());

    asking.interrupt();

    assertThat(asking.failure()).isInstanceOf(InterruptedException.class);
    b.store().heal();
    awaitFree(a, ledger);
  }

  @Test
  void timeoutWhileTheClaimIsUnderWay_saysThatTheStoreIsSilent_andLeavesTheNameFree() {
    Duration patience = lease.dividedBy(4);
    b.store().fault(CLAIM, HOLD_REQUEST);
    Blocked<Hold> asking = acquiring(b.lock(ledger), patience);
    await("the claim", () -> b.store().met() == 1);

    elapse(patience);

    assertThat(asking.failure())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(ledger);
    b.store().heal();
    elapse(Duration.ofMillis(1));
    awaitFree(a, ledger);
  }

  @Test
  void grantThatArrivesAfterItsLease_isNotBelieved() {
    if (!givesOrRefuses(Guarantee.LEASE_PER_HOLD)) {
      return;
    }
    b.store().fault(CLAIM, HOLD_REPLY);
    CompletableFuture<Hold> asking = b.lock(ledger, fixed()).acquireAsync(ample);
    await("the grant", () -> !a.inspect(ledger).isFree());
    elapseUntilFree(a, ledger, lease.multipliedBy(2));
    Hold current = a.take(ledger);

    b.store().heal();

    assertThat(asking).isNotDone();
    assertThat(current.isValid()).isTrue();
    current.release();
    assertThat(get(asking).token()).isGreaterThan(current.token());
  }

  @Test
  void tryThatGetsNoAnswer_failsWithinTheOperationTimeout() {
    Duration timeout = lease.dividedBy(4);
    Peer d = peer("d", builder -> builder.operationTimeout(timeout));
    d.store().fault(CLAIM, HOLD_REQUEST);
    Blocked<Optional<Hold>> trying = inThread(() -> d.tryTake(ledger));
    await("the claim", () -> d.store().met() == 1);

    elapse(timeout);

    assertThat(trying.failure()).isInstanceOf(StoreUnavailableException.class);
    d.store().heal();
    awaitFree(a, ledger);
  }

  @Test
  void abandonedWaits_ofAllKinds_leaveTheQueueToTheOthers() {
    Hold hold = a.take(ledger);
    Blocked<Hold> interrupted = acquiring(b.lock(ledger), ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> cancelled = b.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> timedOut = b.lock(ledger).acquireAsync(lease.dividedBy(8));
    CompletableFuture<Hold> patient = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 4);

    interrupted.interrupt();
    cancelled.cancel(false);
    elapse(lease.dividedBy(8));

    assertThat(interrupted.failure()).isInstanceOf(InterruptedException.class);
    assertThat(failure(timedOut)).isInstanceOf(LockTimeoutException.class);
    hold.release();
    assertThat(get(patient).isValid()).isTrue();
    assertThatThrownBy(cancelled::join).isNotNull();
  }
}
