package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.ClientClosedException;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What closing a client does to its holds, its waiters, and to everyone else. */
abstract class ClosingBehaviour extends Scenario {

  ClosingBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void close_releasesWhatIsHeld() {
    a.take(ledger);
    a.take(name("journal"));

    a.fenceline().close();

    awaitFree(b, ledger);
    assertThat(b.tryTake(ledger)).isPresent();
    assertThat(b.tryTake(name("journal"))).isPresent();
  }

  @Test
  void close_signalsTheLoss_afterTheHoldBecameInvalid() {
    Hold hold = a.take(ledger);
    List<Boolean> validWhenTold = new CopyOnWriteArrayList<>();
    hold.onLost(lost -> validWhenTold.add(hold.isValid()));
    CompletableFuture<Lost> lost = hold.lost();

    a.fenceline().close();

    assertThat(get(lost).reason()).isEqualTo(LossReason.CLIENT_CLOSED);
    assertThat(hold.isValid()).isFalse();
    await("the listener", () -> validWhenTold.size() == 1);
    assertThat(validWhenTold).containsExactly(false);
  }

  @Test
  void close_letsTheNextProcessIn() {
    a.take(ledger);
    CompletableFuture<Hold> next = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    a.fenceline().close();

    assertThat(get(next).isValid()).isTrue();
  }

  @Test
  void close_failsWhoWaits_andTheOthersGoOn() {
    Hold hold = a.take(ledger);
    Blocked<Hold> blocked = acquiring(b.lock(ledger), ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> other = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    b.fenceline().close();

    assertThat(blocked.failure()).isInstanceOf(ClientClosedException.class);
    assertThat(failure(waiting)).isInstanceOf(ClientClosedException.class);
    hold.release();
    assertThat(get(other).isValid()).isTrue();
  }

  @Test
  void close_leavesNoWaiterBehind() {
    a.take(ledger);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    b.fenceline().close();

    await("the queue to be empty", () -> a.inspect(ledger).waiters().isEmpty());
    await("the waiter to be told", waiting::isCompletedExceptionally); // On a thread for users.
  }

  @Test
  void closedClient_refusesEverything() {
    Hold hold = a.take(ledger);
    var lock = a.lock(ledger);
    a.fenceline().close();

    List<Runnable> uses = new ArrayList<>();
    uses.add(() -> a.lock(ledger));
    uses.add(() -> a.inspect(ledger));
    uses.add(() -> a.fenceline().list("", 1));
    uses.add(() -> a.fenceline().forceRelease(ledger, hold.token()));
    uses.add(() -> a.fenceline().lockAll(ledger));
    uses.add(() -> assertThat(lock.tryAcquire()).isEmpty());
    for (Runnable use : uses) {
      assertThatThrownBy(use::run).isInstanceOf(ClientClosedException.class);
    }
    assertThatThrownBy(() -> acquire(lock, ample)).isInstanceOf(ClientClosedException.class);
  }

  @Test
  void closingTwice_isHarmless() {
    a.take(ledger);

    a.fenceline().close();
    a.fenceline().close();

    awaitFree(b, ledger);
  }

  @Test
  void holdOfAClosedClient_canStillBeClosed() {
    Hold hold = a.take(ledger);
    a.fenceline().close();
    Hold current = b.take(ledger);

    hold.close();

    assertThat(current.isValid()).isTrue();
    assertThat(c.tryTake(ledger)).isEmpty();
  }

  /** Whoever closes the client may close what the store is connected through right after it. */
  @Test
  void closeWhileAReleaseIsUnderWay_waitsForItsAnswer() {
    Hold hold = a.take(ledger);
    a.store().fault(LossyStore.Operation.RELEASE, LossyStore.Fault.HOLD_REQUEST);
    CompletableFuture<ReleaseOutcome> releasing = hold.releaseAsync();
    await("the release", () -> a.store().met() == 1);

    Blocked<Boolean> closing =
        inThread(
            () -> {
              a.fenceline().close();
              return true;
            });
    await("the close to wait, or to end", () -> closing.isDone() || closing.isWaiting());
    a.store().letGo();

    assertThat(closing.result()).isTrue();
    assertThat(get(releasing)).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void closeWhileAClaimIsUnderWay_leavesTheNameFree() {
    a.store().fault(LossyStore.Operation.CLAIM, LossyStore.Fault.HOLD_REQUEST);
    CompletableFuture<Hold> asking = a.lock(ledger).acquireAsync(ample);
    await("the claim", () -> a.store().met() == 1);

    a.fenceline().close();
    a.store().letGo();

    assertThat(failure(asking)).isInstanceOf(ClientClosedException.class);
    elapse(lease.multipliedBy(2));
    awaitFree(b, ledger);
  }
}
