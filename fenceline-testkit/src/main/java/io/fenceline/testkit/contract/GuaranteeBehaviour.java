package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.ALREADY_LOST;
import static io.fenceline.ReleaseOutcome.RELEASED;
import static io.fenceline.testkit.fault.LossyStore.Operation.RELEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.Lost;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a store may or may not promise: kept where it is declared, refused where it is not. */
abstract class GuaranteeBehaviour extends Scenario {

  private final LockContract contract;

  GuaranteeBehaviour(LockContract contract) {
    super(contract::harness);
    this.contract = contract;
  }

  private LockOptions delayed() {
    return fixed().lockDelay(lease);
  }

  private boolean delays() {
    return givesOrRefuses(Guarantee.LOCK_DELAY, () -> a.lock(ledger, delayed()));
  }

  private boolean keeps() {
    return givesOrRefuses(
        Guarantee.KEEP_AT_LEAST, () -> a.lock(ledger, renewed().keepAtLeast(lease)));
  }

  @Test
  void declaredGuarantees_canBeRequired() {
    Guarantee[] given = a.fenceline().guarantees().given().toArray(Guarantee[]::new);

    Peer demanding = peer("demanding", builder -> builder.require(given));

    assertThat(demanding.take(ledger).isValid()).isTrue();
  }

  @Test
  void undeclaredGuarantees_areRefusedAtConnect() {
    for (Guarantee guarantee : Guarantee.values()) {
      if (!gives(guarantee)) {
        assertThatThrownBy(() -> peer("demanding", builder -> builder.require(guarantee)))
            .isInstanceOf(InvalidSettingException.class)
            .hasMessageContaining(guarantee.meaning());
      }
    }
  }

  @Test
  void guarantees_sayWhatCanBreakThem() {
    var guarantees = a.fenceline().guarantees();

    assertThat(guarantees.store()).isNotBlank();
    assertThat(guarantees.onFailover()).isNotBlank();
    assertThat(guarantees.onClockJump()).isNotBlank();
    assertThat(guarantees.onWipe()).isNotBlank();
    assertThat(guarantees.leases().shortest()).isPositive();
    assertThat(guarantees.leases().longest()).isGreaterThanOrEqualTo(lease);
  }

  @Test
  void durable_isGivenIfItIsCertain_andOnlyThen() {
    var guarantees = a.fenceline().guarantees();

    assertThat(guarantees.gives(Guarantee.DURABLE))
        .isEqualTo(guarantees.durable() == Certainty.YES);
    assertThat(guarantees.onCrash()).isNotBlank();
  }

  @Test
  void serverThatMayForgetGrants_saysBySetting_andIsRefusedWhereDurableIsRequired()
      throws Exception {
    Optional<LockContract.Forgetful> weak = contract.forgetful();
    if (weak.isEmpty()) {
      return;
    }
    try (AutoCloseable server = weak.get().server();
        Fenceline fenceline = Fenceline.builder().store(weak.get().store()).connect()) {
      assertThat(server).isNotNull();
      assertThat(fenceline.guarantees().durable()).isEqualTo(Certainty.NO);
      assertThat(fenceline.guarantees().onCrash()).contains(weak.get().setting());
      assertThat(fenceline.lock(ledger).tryAcquire()).isPresent();
      assertThatThrownBy(
              () ->
                  Fenceline.builder()
                      .store(weak.get().store())
                      .require(Guarantee.DURABLE)
                      .connect())
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining(Guarantee.DURABLE.meaning())
          .hasMessageContaining(weak.get().setting());
    }
  }

  @Test
  void leaseThatTheStoreCannotKeep_isRefused() {
    Duration shortest = a.fenceline().guarantees().leases().shortest();
    Duration tooShort = shortest.minusMillis(1);

    assertThatThrownBy(() -> a.lock(ledger, LockOptions.defaults().lease(tooShort)))
        .isInstanceOfSatisfying(
            InvalidSettingException.class,
            refused -> {
              assertThat(refused.setting()).isEqualTo("lease");
              assertThat(refused.value()).isEqualTo(tooShort.toString());
            });
  }

  // Keep at least. ------------------------------------------------------------------------------

  @Test
  void keepAtLeast_keepsTheNameClosed_afterAnEarlyRelease() {
    if (!keeps()) {
      return;
    }
    Hold hold = a.take(ledger, renewed().keepAtLeast(lease));

    assertThat(hold.release()).isEqualTo(RELEASED);

    assertThat(hold.isValid()).isFalse();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(a.tryTake(ledger)).isEmpty();
    elapseUntilFree(b, ledger, lease);
    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void keepAtLeast_doesNotHandOff_soThatItRunsOnce() {
    if (!keeps()) {
      return;
    }
    Hold hold = a.take(ledger, renewed().keepAtLeast(lease));
    CompletableFuture<Hold> next = a.lock(ledger).acquireAsync(ample);

    hold.release();
    elapse(lease.dividedBy(4));
    assertThat(next).isNotDone();

    elapse(lease);
    assertThat(get(next).token()).isGreaterThan(hold.token());
  }

  @Test
  void keepAtLeast_addsNothing_afterALongHold() {
    if (!keeps()) {
      return;
    }
    Hold hold = a.take(ledger, renewed().keepAtLeast(lease.dividedBy(4)));
    elapse(lease.dividedBy(2));

    hold.release();

    assertThat(b.tryTake(ledger)).isPresent();
  }

  // Lock-delay. ---------------------------------------------------------------------------------

  @Test
  void lockDelay_keepsTheNameClosed_afterALeaseThatRanOut() {
    if (!delays()) {
      return;
    }
    Hold hold = a.take(ledger, delayed());
    CompletableFuture<Lost> lost = hold.lost();

    elapse(lease.plus(lease.dividedBy(4)));

    assertThat(get(lost).lease()).isEqualTo(lease);
    assertThat(hold.isValid()).isFalse();
    assertThat(b.tryTake(ledger)).isEmpty();
    elapseUntilFree(b, ledger, lease);
    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void lockDelay_keepsTheNameClosed_afterItsProcessVanished() {
    if (!delays()) {
      return;
    }
    a.take(ledger, delayed());

    a.vanish();
    elapse(lease.plus(lease.dividedBy(4)));

    assertThat(b.tryTake(ledger)).isEmpty();
    elapseUntilFree(b, ledger, lease);
  }

  @Test
  void withALockDelay_noReleaseIsSent_afterTheLocalDeadline() {
    if (!delays()) {
      return;
    }
    Hold hold = a.take(ledger, delayed());
    elapse(lease);

    assertThat(hold.release()).isEqualTo(ALREADY_LOST);

    assertThat(a.store().asked(RELEASE)).isZero();
    assertThat(a.store().asked(LossyStore.Operation.WITHDRAW)).isZero();
    assertThat(b.tryTake(ledger)).isEmpty();
  }

  @Test
  void withALockDelay_aReleaseInTimeOpensTheNameAtOnce() {
    if (!delays()) {
      return;
    }
    Hold hold = a.take(ledger, delayed());

    assertThat(hold.release()).isEqualTo(RELEASED);

    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void withALockDelay_renewalsGoOn() {
    if (!delays()) {
      return;
    }
    Hold hold = a.take(ledger, renewed().lockDelay(lease));

    elapse(lease.multipliedBy(3));

    assertThat(hold.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(hold.release()).isEqualTo(RELEASED);
  }

  @Test
  void forcedRelease_isCutDownToTheDelay_andRenewalsDoNotBringItBack() {
    if (!delays()) {
      return;
    }
    Duration delay = lease.multipliedBy(2);
    Hold hold = a.take(ledger, renewed().lockDelay(delay));

    assertThat(b.fenceline().forceRelease(ledger, hold.token())).isTrue();
    elapse(lease);

    assertThat(hold.isValid()).isFalse();
    assertThat(b.tryTake(ledger)).isEmpty();
    elapseUntilFree(b, ledger, lease);
    assertThat(b.take(ledger).token()).isGreaterThan(hold.token());
  }

  @Test
  void clientThatCloses_leavesADelayedNameClosedForTheDelay() {
    if (!delays()) {
      return;
    }
    a.take(ledger, renewed().lockDelay(lease));

    a.fenceline().close();

    assertThat(b.tryTake(ledger)).isEmpty();
    elapseUntilFree(b, ledger, lease);
  }
}
