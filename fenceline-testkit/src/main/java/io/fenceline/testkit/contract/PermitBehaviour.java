package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencedSemaphore;
import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.LockTimeoutException;
import io.fenceline.PermitHold;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.settings.Limits;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Permits: at most n, all or none, and one n for everyone. */
abstract class PermitBehaviour extends Scenario {

  PermitBehaviour(LockContract contract) {
    super(contract::harness);
  }

  private boolean hasPermits() {
    return givesOrRefuses(Guarantee.PERMITS, () -> a.fenceline().semaphore(ledger, 2));
  }

  private FencedSemaphore three(Peer peer) {
    return peer.fenceline().semaphore(ledger, 3);
  }

  private PermitHold permit(Peer peer) {
    return three(peer).tryAcquire().orElseThrow();
  }

  @Test
  void permits_areGivenUntilThereAreNoMore() {
    if (!hasPermits()) {
      return;
    }
    List<PermitHold> held = List.of(permit(a), permit(a), permit(b));

    assertThat(held).allMatch(PermitHold::isValid);
    assertThat(three(c).tryAcquire()).isEmpty();
    assertThat(three(a).tryAcquire()).isEmpty();
    assertThat(held).extracting(PermitHold::token).doesNotHaveDuplicates();
  }

  @Test
  void releasedPermit_isFreeForOthers() {
    if (!hasPermits()) {
      return;
    }
    permit(a);
    PermitHold middle = permit(b);
    permit(a);

    assertThat(middle.release()).isEqualTo(RELEASED);

    assertThat(permit(c).token()).isGreaterThan(middle.token());
    assertThat(three(b).tryAcquire()).isEmpty();
  }

  @Test
  void severalPermits_areAllOrNone() {
    if (!hasPermits()) {
      return;
    }
    PermitHold two = three(a).several(2).tryAcquire().orElseThrow();

    assertThat(two.permits()).isEqualTo(2);
    assertThat(three(b).several(2).tryAcquire()).isEmpty();
    assertThat(permit(b).permits()).isOne();
    assertThat(three(c).tryAcquire()).isEmpty();
  }

  @Test
  void severalPermits_areWaitedForTogether() {
    if (!hasPermits()) {
      return;
    }
    PermitHold one = permit(a);
    PermitHold two = permit(b);
    CompletableFuture<PermitHold> all = three(c).several(3).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    one.release();
    elapse(lease.dividedBy(10));
    assertThat(all).isNotDone();
    two.release();

    assertThat(get(all).permits()).isEqualTo(3);
    assertThat(three(a).tryAcquire()).isEmpty();
  }

  @Test
  void smallClaim_doesNotStarveALargeOneThatWaits() {
    if (!hasPermits() || !givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    PermitHold one = permit(a);
    CompletableFuture<PermitHold> all = three(b).several(3).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    assertThat(three(c).tryAcquire()).isEmpty();

    one.release();
    assertThat(get(all).isValid()).isTrue();
  }

  @Test
  void permitsOfAProcessThatVanished_comeBackWithItsLease() {
    if (!hasPermits()) {
      return;
    }
    assertThat(three(a).several(3).tryAcquire()).isPresent();

    a.vanish();
    elapseUntilFree(b, ledger, lease);

    assertThat(three(b).several(3).tryAcquire()).isPresent();
  }

  @Test
  void permits_areRenewed() {
    if (!hasPermits()) {
      return;
    }
    PermitHold all = three(a).several(3).tryAcquire().orElseThrow();

    elapse(lease.multipliedBy(2));

    assertThat(all.isValid()).isTrue();
    assertThat(three(b).tryAcquire()).isEmpty();
  }

  @Test
  void timeoutBesideOwnPermits_saysHowManyThisClientHolds() {
    if (!hasPermits()) {
      return;
    }
    permit(b); // The holder that the store names may be this one.
    permit(a);
    permit(a);
    Blocked<PermitHold> nested = acquiring(three(a), lease.dividedBy(2));
    Blocked<PermitHold> another = acquiring(three(c), lease.dividedBy(2));
    elapseUntil("both to time out", () -> nested.isDone() && another.isDone());

    assertThat(nested.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
        .hasMessageContaining("This client itself holds 2 of the 3 permits")
        .hasMessageContaining("a permit can't be entered again");
    assertThat(another.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isFalse())
        .hasMessageNotContaining("This client itself");
  }

  @Test
  void morePermitsThanThereAre_areRefused() {
    if (!hasPermits()) {
      return;
    }
    assertThatThrownBy(() -> three(a).several(4)).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> three(a).several(0)).isInstanceOf(InvalidSettingException.class);
    assertThatThrownBy(() -> a.fenceline().semaphore(ledger, 0))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void lockAndSemaphoreOfOneName_conflict_andBothAreNamed() {
    if (!hasPermits()) {
      return;
    }
    Hold lock = a.take(ledger);

    assertThatThrownBy(() -> three(b).tryAcquire())
        .isInstanceOfSatisfying(
            StoreRefusedException.class,
            conflict ->
                assertThat(conflict)
                    .hasMessageContaining(ledger)
                    .hasMessageContaining("claimed as a semaphore of 3")
                    .hasMessageContaining("in use as a lock"));
    assertThat(lock.isValid()).isTrue();
    assertThat(a.inspect(ledger).holders()).hasSize(1);
  }

  @Test
  void differentNumbersOfPermits_conflict_andBothAreNamed() {
    if (!hasPermits()) {
      return;
    }
    permit(a);

    CompletableFuture<PermitHold> claim = b.fenceline().semaphore(ledger, 5).acquireAsync(ample);

    assertThat(failure(claim))
        .isInstanceOfSatisfying(
            StoreRefusedException.class,
            conflict ->
                assertThat(conflict)
                    .hasMessageContaining("claimed as a semaphore of 5")
                    .hasMessageContaining("in use as a semaphore of 3"));
    assertThat(a.inspect(ledger).waiters()).isEmpty();
  }

  @Test
  void lock_conflictsWithASemaphoreInUse() {
    if (!hasPermits()) {
      return;
    }
    PermitHold held = permit(a);

    assertThatThrownBy(() -> acquire(b.lock(ledger), ample))
        .isInstanceOf(StoreRefusedException.class);
    assertThat(held.isValid()).isTrue();
  }

  @Test
  void conflict_endsWithTheLastHold() {
    if (!hasPermits()) {
      return;
    }
    permit(a).release();

    assertThat(b.take(ledger).isValid()).isTrue();
    assertThatThrownBy(() -> three(a).tryAcquire()).isInstanceOf(StoreRefusedException.class);
  }

  @Test
  void failedClaims_doNotCountAsWaiters() {
    if (!hasPermits()) {
      return;
    }
    Peer d = peer("d", builder -> builder.limits(new Limits(2, 1, 100)));
    d.take(name("other"));

    for (int i = 0; i < 4; i++) {
      assertThatThrownBy(() -> acquire(three(d), ample))
          .isInstanceOfSatisfying(
              LimitExceededException.class, e -> assertThat(e.limit()).isEqualTo("holds"));
    }
  }
}
