package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static io.fenceline.testkit.fault.LossyStore.Operation.RENEW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.Leaked;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.event.Renewed;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Renewal, fixed leases, and how long a hold lasts. */
abstract class LeaseBehaviour extends Scenario {

  LeaseBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void hold_isRenewed_forAsLongAsItIsHeld() {
    Hold hold = a.take(ledger);

    elapse(lease.multipliedBy(3));

    assertThat(hold.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(hold.release()).isEqualTo(RELEASED);
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void renewal_isToldWithItsFigures() {
    Hold hold = a.take(ledger);

    elapse(lease.dividedBy(2));
    await("a renewal", () -> !a.events().of(Renewed.class).isEmpty());

    Renewed renewed = a.events().of(Renewed.class).get(0);
    assertThat(renewed.name()).isEqualTo(ledger);
    assertThat(renewed.id()).isEqualTo(hold.id());
    assertThat(renewed.token()).isEqualTo(hold.token());
    assertThat(renewed.remaining()).isBetween(lease.dividedBy(2), lease);
  }

  @Test
  void manyHolds_areAllRenewed() {
    List<Hold> holds = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      holds.add(a.take(name("many-" + i)));
    }

    elapse(lease.multipliedBy(2));

    assertThat(holds).allMatch(Hold::isValid);
    assertThat(holds).allMatch(hold -> hold.release() == RELEASED);
  }

  @Test
  void releasedHold_isNotRenewedAnyMore() {
    Hold hold = a.take(ledger);
    hold.release();
    int renewals = a.store().asked(RENEW);

    elapse(lease.multipliedBy(2));

    assertThat(a.store().asked(RENEW)).isEqualTo(renewals);
  }

  @Test
  void fixedLease_isNeverRenewed() {
    Hold hold = a.take(ledger, fixed());

    elapse(lease);

    assertThat(a.store().asked(RENEW)).isZero();
    assertThat(hold.isValid()).isFalse();
  }

  @Test
  void remaining_isAtMostTheLease_andFallsWithTime() {
    Hold hold = a.take(ledger, fixed());
    Duration first = hold.remaining();
    assertThat(first).isBetween(lease.dividedBy(2), lease);

    elapse(lease.dividedBy(4));

    assertThat(hold.remaining()).isLessThan(first);
  }

  @Test
  void extend_startsAFixedLeaseAgain() throws InterruptedException {
    Hold hold = a.take(ledger, fixed());
    elapse(lease.dividedBy(2));

    hold.extend(lease);
    elapse(lease.multipliedBy(3).dividedBy(4));

    assertKeepsOut(hold, b);
  }

  @Test
  void extendToALongerLease_isKeptByTheStore() throws InterruptedException {
    Hold hold = a.take(ledger, fixed());

    hold.extend(lease.multipliedBy(3));
    elapse(lease.multipliedBy(2));

    assertThat(hold.lease()).isEqualTo(lease.multipliedBy(3));
    assertKeepsOut(hold, b);
  }

  @Test
  void extendToAShorterLease_endsSooner() throws InterruptedException {
    Duration threefold = lease.multipliedBy(3);
    Hold hold = a.take(ledger, fixed().fixedLease(threefold));

    hold.extend(lease);

    assertThat(hold.remaining()).isLessThanOrEqualTo(lease);
    elapseUntilFree(b, ledger, lease);
    assertThat(hold.isValid()).isFalse();
    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void extendToAShorterLease_ofAProcessThatVanishes_isNotCutAtTheStore()
      throws InterruptedException {
    Duration threefold = lease.multipliedBy(3);
    Hold hold = a.take(ledger, fixed().fixedLease(threefold));

    hold.extend(lease);
    a.vanish();
    elapse(lease.plus(lease.dividedBy(4)));

    assertThat(hold.isValid()).isFalse();
    if (gives(Guarantee.LEASE_PER_HOLD)) {
      assertThat(b.tryTake(ledger)).isEmpty();
    }
    elapseUntilFree(b, ledger, threefold);
    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void extend_isRefusedOnAHoldThatRenewsItself() {
    Hold hold = a.take(ledger);

    assertThatThrownBy(() -> hold.extend(lease))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(ledger);
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void extend_isRefusedOnAReleasedHold() {
    Hold hold = a.take(ledger, fixed());
    hold.release();

    assertThatThrownBy(() -> hold.extend(lease)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void extendThatGetsNoAnswer_leavesTheOldLease() {
    Hold hold = a.take(ledger, fixed());
    a.store().fault(RENEW, LossyStore.Fault.LOSE_REQUEST);

    assertThatThrownBy(() -> hold.extend(lease.multipliedBy(2)))
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(a.store().met()).isOne();
    assertThat(hold.isValid()).isTrue();
    assertThat(hold.remaining()).isLessThanOrEqualTo(lease);
  }

  @Test
  void extendToALeaseThatTheStoreCannotKeep_isRefused() {
    Hold hold = a.take(ledger, fixed());
    Duration tooShort = a.fenceline().guarantees().leases().shortest().dividedBy(2);

    assertThatThrownBy(() -> hold.extend(tooShort)).isInstanceOf(InvalidSettingException.class);
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void ensure_returns_whenThereIsEnoughLeft() throws InterruptedException {
    Hold hold = a.take(ledger, fixed());

    hold.ensure(lease.dividedBy(4));

    assertThat(a.store().asked(RENEW)).isZero();
  }

  @Test
  void ensure_renewsAHoldThatRenewsItself() throws InterruptedException {
    Hold hold = a.take(ledger);
    elapse(lease.dividedBy(4));

    hold.ensure(lease.multipliedBy(9).dividedBy(10));

    assertThat(hold.remaining()).isGreaterThan(lease.multipliedBy(3).dividedBy(4));
  }

  @Test
  void ensure_saysHowMuchIsMissing_onAFixedLease() {
    Hold hold = a.take(ledger, fixed());

    assertThatThrownBy(() -> hold.ensure(lease.multipliedBy(2)))
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            tooShort -> {
              assertThat(tooShort.limit()).isEqualTo(LimitExceededException.REMAINING_LEASE);
              assertThat(tooShort.retryAfter()).isEmpty();
              assertThat(tooShort.getMessage())
                  .isEqualTo(
                      "Lock '%s' is held for %s more, but %s are required"
                          .formatted(
                              ledger, tooShort.allowed(), Durations.show(lease.multipliedBy(2))));
            });
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void ensure_isRefusedOnAReleasedHold() {
    Hold hold = a.take(ledger);
    hold.release();

    assertThatThrownBy(() -> hold.ensure(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void maxHold_endsTheRenewal_andThenTheHold() {
    Hold hold = a.take(ledger, renewed().maxHold(lease));
    elapse(lease.dividedBy(2));
    assertThat(hold.isValid()).isTrue();

    elapse(lease.multipliedBy(2));
    awaitFree(b, ledger);

    assertThat(hold.isValid()).isFalse();
    assertThat(get(hold.lost()).reason()).isEqualTo(LossReason.EXPIRED);
    await("both events", () -> a.events().of(Lost.class).size() == 1);
    assertThat(a.events().of(Leaked.class))
        .singleElement()
        .satisfies(
            leaked -> {
              assertThat(leaked.cause()).isEqualTo(Leaked.Cause.MAX_HOLD);
              assertThat(leaked.id()).isEqualTo(hold.id());
            });
  }

  @Test
  void longHold_isFineBelowMaxHold() {
    Hold hold = a.take(ledger, renewed().maxHold(lease.multipliedBy(10)));

    elapse(lease.multipliedBy(2));

    assertThat(hold.isValid()).isTrue();
    assertThat(a.events().of(Leaked.class)).isEmpty();
  }
}
