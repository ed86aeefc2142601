package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static io.fenceline.ReleaseOutcome.UNKNOWN;
import static io.fenceline.testkit.fault.LossyStore.Fault.LOSE_REPLY;
import static io.fenceline.testkit.fault.LossyStore.Fault.LOSE_REQUEST;
import static io.fenceline.testkit.fault.LossyStore.Fault.REFUSE;
import static io.fenceline.testkit.fault.LossyStore.Operation.CLAIM;
import static io.fenceline.testkit.fault.LossyStore.Operation.RELEASE;
import static io.fenceline.testkit.fault.LossyStore.Operation.RENEW;
import static io.fenceline.testkit.fault.LossyStore.Operation.WITHDRAW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.StoreFailed;
import io.fenceline.event.TimedOut;
import io.fenceline.settings.Limits;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Requests and replies that got lost: nothing is held twice, and nothing stays closed (I5, I7). */
abstract class UnknownOutcomeBehaviour extends Scenario {
  UnknownOutcomeBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void claimThatWasLost_isSentAgain_untilItIsAnswered() {
    a.store().fault(CLAIM, LOSE_REQUEST);
    CompletableFuture<Hold> asking = a.lock(ledger).acquireAsync(ample);
    await("the claim to be lost", () -> a.store().met() > 0);
    assertThat(asking).isNotDone();

    a.store().heal();
    elapseUntil("the claim to be sent again", asking::isDone);

    assertThat(get(asking).isValid()).isTrue();
    assertThat(a.events().of(StoreFailed.class)).isNotEmpty();
  }

  @Test
  void grantThatWasLost_isTheOneThatTheNextClaimGets() {
    a.store().fault(CLAIM, LOSE_REPLY);
    CompletableFuture<Hold> asking = a.lock(ledger).acquireAsync(ample);
    await("the grant to be lost", () -> !b.inspect(ledger).isFree());
    long granted = b.inspect(ledger).holders().get(0).token();

    a.store().heal();
    elapseUntil("the claim to be sent again", asking::isDone);

    Hold hold = get(asking);
    assertThat(a.store().met()).isPositive();
    assertThat(hold.token()).isEqualTo(granted);
    assertThat(b.inspect(ledger).holders()).hasSize(1);
  }

  @Test
  void placeInTheQueueThatWasNotHeardOf_isKept() {
    Hold hold = a.take(ledger);
    b.store().fault(CLAIM, LOSE_REPLY);
    CompletableFuture<Hold> asking = b.lock(ledger).acquireAsync(ample);
    await("the answer to be lost", () -> b.store().met() > 0);

    b.store().heal();
    elapse(Duration.ofSeconds(1));
    assertThat(a.inspect(ledger).waiters().size()).isLessThanOrEqualTo(1);
    hold.release();

    assertThat(get(asking).isValid()).isTrue();
    assertThat(a.inspect(ledger).waiters()).isEmpty();
  }

  @Test
  void grantOfATry_thatWasLost_isUndone() {
    a.store().fault(CLAIM, LOSE_REPLY);

    assertThatThrownBy(() -> a.tryTake(ledger)).isInstanceOf(StoreUnavailableException.class);

    assertThat(a.store().met()).isOne();
    awaitFree(b, ledger);
    assertThat(b.take(ledger).isValid()).isTrue();
  }

  @Test
  void undoThatWasLost_isRepeatedUntilItIsAnswered() {
    a.store().fault(CLAIM, LOSE_REPLY);
    a.store().fault(WITHDRAW, LOSE_REQUEST);
    assertThatThrownBy(() -> a.tryTake(ledger)).isInstanceOf(StoreUnavailableException.class);
    await("the undo to be lost", () -> a.store().met() > 1);
    assertThat(b.inspect(ledger).isFree()).isFalse();

    a.store().heal();
    elapse(Duration.ofMillis(500));

    awaitFree(b, ledger);
    assertThat(b.take(ledger).isValid()).isTrue();
  }

  @Test
  void releaseThatWasLost_isUnknown_andRepeatedUntilItIsAnswered() {
    Hold hold = a.take(ledger);
    a.store().fault(RELEASE, LOSE_REQUEST);

    assertThat(hold.release()).isEqualTo(UNKNOWN);
    assertThat(hold.isValid()).isFalse();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(a.store().met()).isPositive();

    a.store().heal();
    elapse(Duration.ofMillis(500));
    awaitFree(b, ledger);
  }

  @Test
  void releaseWhoseAnswerWasLost_isUnknown_butOpensTheName() {
    Hold hold = a.take(ledger);
    a.store().fault(RELEASE, LOSE_REPLY);

    assertThat(hold.release()).isEqualTo(UNKNOWN);

    assertThat(a.store().met()).isPositive();
    assertThat(b.take(ledger).isValid()).isTrue();
  }

  @Test
  void repeatedRelease_leavesTheNewHolderAlone() {
    Hold hold = a.take(ledger);
    a.store().fault(RELEASE, LOSE_REPLY);
    assertThat(hold.release()).isEqualTo(UNKNOWN);
    Hold current = b.take(ledger);

    a.store().heal();
    elapse(Duration.ofSeconds(1));

    assertThat(current.isValid()).isTrue();
    assertThat(c.tryTake(ledger)).isEmpty();
    assertThat(current.release()).isEqualTo(RELEASED);
  }

  @Test
  void releaseOrThrow_saysThatItIsUnknown() {
    Hold hold = a.take(ledger);
    a.store().fault(RELEASE, LOSE_REPLY);

    assertThatThrownBy(hold::releaseOrThrow)
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            failed ->
                assertThat(failed)
                    .hasMessageContaining("'" + ledger + "'")
                    .hasMessageContaining("token=" + hold.token())
                    .hasMessageContaining("release was not confirmed"));
  }

  @Test
  void renewalsWhoseAnswersAreLost_areNotBelieved() {
    Hold hold = a.take(ledger);
    a.store().fault(RENEW, LOSE_REPLY);

    elapse(lease.multipliedBy(2));

    assertThat(a.store().met()).isPositive();
    assertThat(hold.isValid()).isFalse();
    awaitFree(b, ledger);
  }

  @Test
  void storeThatIsDown_failsAnAcquire_afterItsWait_withTheLastCause() {
    a.store().fault(LOSE_REQUEST);
    Duration patience = lease.dividedBy(4);
    Blocked<Hold> asking = acquiring(a.lock(ledger), patience);
    await("the first claim to be lost", () -> a.store().met() > 0);

    elapse(patience);

    assertThat(asking.failure())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("'" + ledger + "' was not acquired within")
        .hasMessageContaining(": The CLAIM was lost on its way (waited=")
        .hasCauseInstanceOf(StoreUnavailableException.class);
    await("the event", () -> a.events().of(TimedOut.class).size() == 1);
    assertThat(a.events().of(TimedOut.class).get(0).storeSilent()).isTrue();
  }

  @Test
  void storeThatIsDown_failsATryAtOnce() {
    a.store().fault(LOSE_REQUEST);

    assertThatThrownBy(() -> a.tryTake(ledger)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> a.inspect(ledger)).isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void storeThatRefusesForGood_endsAWaitAtOnce_andLeavesNothing() {
    a.store().fault(CLAIM, REFUSE);
    Blocked<Hold> asking = acquiring(a.lock(ledger), ample);

    assertThat(asking.failure())
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("The CLAIM was refused");
    assertThat(a.store().asked(CLAIM)).isEqualTo(1);
    await("the claim to be undone, in case it was refused half-way", () -> undone(a) == 1);
    a.store().heal();
    assertThat(a.take(ledger).isValid()).isTrue();
  }

  private static int undone(Peer peer) {
    return peer.store().asked(WITHDRAW);
  }

  @Test
  void storeThatRefusesEverything_doesNotPileUpUndos_andIsGivenBackWhatWasHeld() {
    // Room for the release, and for an undo that has just been refused.
    Peer d = peer("d", builder -> builder.limits(new Limits(10, 100, 3)));
    Hold hold = d.take(ledger);
    d.store().fault(REFUSE);
    assertThat(hold.release()).isEqualTo(UNKNOWN);
    for (int i = 1; i <= 4; i++) {
      String other = name("other" + i);
      assertThatThrownBy(() -> d.tryTake(other)).isInstanceOf(StoreRefusedException.class);
      int refused = i;
      await("its undo to be refused, too", () -> undone(d) == refused);
    }

    elapse(lease.multipliedBy(2));
    assertThat(undone(d)).isEqualTo(4);
    d.store().heal();
    awaitFree(b, ledger);
  }

  @Test
  void storeThatComesBack_servesWhoWaited() {
    a.store().fault(LOSE_REQUEST);
    CompletableFuture<Hold> asking = a.lock(ledger).acquireAsync(ample);
    elapseUntil("some claims to be lost", () -> a.store().met() > 2);

    a.store().heal();
    elapseUntil("the claim to be sent again", asking::isDone);

    assertThat(get(asking).isValid()).isTrue();
  }

  @Test
  void undosThatPileUp_failNewClaims_beforeTheyAreSent() {
    Peer d = peer("d", builder -> builder.limits(new Limits(10, 100, 2)));
    d.store().fault(LOSE_REQUEST);
    assertThatThrownBy(() -> d.tryTake(name("one"))).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> d.tryTake(name("two"))).isInstanceOf(StoreUnavailableException.class);
    int claims = d.store().asked(CLAIM);

    assertThatThrownBy(() -> d.tryTake(name("three")))
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            limit -> {
              assertThat(limit.limit()).isEqualTo("pendingUndos");
              assertThat(limit.allowed()).isEqualTo("2");
            });
    assertThat(d.store().asked(CLAIM)).isEqualTo(claims);
  }

  @Test
  void afterEveryFaultHealed_theNameIsObtainable_andTokensStillRise() {
    Hold before = a.take(ledger);
    for (LossyStore.Operation operation : LossyStore.Operation.values()) {
      a.store().fault(operation, operation == CLAIM ? LOSE_REPLY : LOSE_REQUEST);
    }
    before.release();
    CompletableFuture<Hold> asking = a.lock(ledger).acquireAsync(ample);
    elapse(lease.dividedBy(2));
    asking.cancel(true);

    a.store().heal();
    elapse(lease.multipliedBy(2));

    awaitFree(b, ledger);
    assertThat(b.take(ledger).token()).isGreaterThan(before.token());
  }
}
