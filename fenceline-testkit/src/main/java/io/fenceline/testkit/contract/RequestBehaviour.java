package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.diagnosis.Guarantee;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Owner;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Answers;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import io.fenceline.time.Moment;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Requests as the runtime sends them when answers got lost or crossed each other: asked of the
 * store itself, because the runtime would never ask some of them on purpose.
 */
abstract class RequestBehaviour extends Scenario {
  private static final SecureRandom RANDOM = new SecureRandom();

  RequestBehaviour(LockContract contract) {
    super(contract::harness);
  }

  private ClaimRequest request(boolean waits) {
    return request(Mode.EXCLUSIVE, Duration.ZERO, waits);
  }

  private ClaimRequest request(Mode mode, Duration delay, boolean waits) {
    return new ClaimRequest(ledger, Owner.draw(RANDOM), mode, lease, delay, waits, true);
  }

  private Answers claim(Peer peer, ClaimRequest request) {
    Answers answers = new Answers();
    peer.store().claim(request, answers);
    await("an answer", () -> !answers.isEmpty());
    return answers;
  }

  private HeldGrant granted(Peer peer, ClaimRequest request) {
    Answers answers = claim(peer, request);
    assertThat(answers.grants()).as("answers: %s", answers).hasSize(1);
    return new HeldGrant(request, answers.grants().get(0).number());
  }

  private Renewal renew(Peer peer, HeldGrant grant) {
    return get(peer.store().renew(List.of(new RenewRequest(grant, lease))).get(0));
  }

  private Release release(Peer peer, HeldGrant grant) {
    return get(peer.store().release(new ReleaseRequest(grant, Duration.ZERO)));
  }

  private NameState state() {
    return get(c.store().inspect(ledger));
  }

  // Claims. -------------------------------------------------------------------------------------

  @Test
  void claimRepeatedByItsOwner_isAnsweredWithTheSameGrant() {
    ClaimRequest request = request(false);
    HeldGrant first = granted(a, request);

    HeldGrant again = granted(a, request);

    assertThat(again.number()).isEqualTo(first.number());
    assertThat(state().holders()).hasSize(1);
  }

  @Test
  void claimRepeatedByItsOwner_startsTheLeaseAgain() {
    if (!givesOrRefuses(Guarantee.LEASE_PER_HOLD)) {
      return;
    }
    ClaimRequest request = request(false);
    HeldGrant first = granted(a, request);
    elapse(lease.multipliedBy(3).dividedBy(4));

    granted(a, request);
    elapse(lease.dividedBy(2));

    assertThat(claim(b, request(false)).isRefused()).isTrue();
    assertThat(renew(a, first)).isInstanceOf(Renewal.Renewed.class);
  }

  /** Some stores take a name that they know by a shorter way, and write less of the holder. */
  @Test
  void grantOfANameUsedBefore_isKnownInFull() {
    release(a, granted(a, request(false)));
    ClaimRequest request = request(false);
    HeldGrant held = granted(a, request);
    NameState.Holder first = state().holders().get(0);

    elapse(lease.dividedBy(2));
    assertThat(renew(a, held)).isInstanceOf(Renewal.Renewed.class);

    NameState.Holder later = state().holders().get(0);
    assertThat(first.number()).isEqualTo(held.number());
    assertThat(later.number()).isEqualTo(held.number());
    assertThat(Duration.between(first.since(), later.since()).abs()).isLessThan(lease.dividedBy(4));
    assertThat(granted(a, request).number()).isEqualTo(held.number());
    assertThat(get(b.store().forceRelease(ledger, held.number()))).isTrue();
    assertThat(granted(b, request(false)).number()).isGreaterThan(held.number());
  }

  @Test
  void claimRepeatedByAWaiter_keepsItsPlace() {
    HeldGrant held = granted(a, request(false));
    ClaimRequest first = request(true);
    Answers waiting = claim(b, first);
    assertThat(waiting.isWaiting()).isTrue();
    Answers second = claim(c, request(true));

    Answers again = claim(b, first);
    release(a, held);

    await("the grant", () -> !waiting.grants().isEmpty() || !again.grants().isEmpty());
    if (gives(Guarantee.FAIR)) {
      assertThat(second.grants()).isEmpty();
    }
    assertThat(state().holders()).hasSize(1);
  }

  @Test
  void refusedClaim_leavesNothingBehind() {
    HeldGrant held = granted(a, request(false));

    Answers refused = claim(b, request(false));

    assertThat(refused.isRefused()).isTrue();
    assertThat(state().waiters()).isEmpty();
    release(a, held);
    assertThat(state().holders()).isEmpty();
    assertThat(refused.grants()).isEmpty();
  }

  @Test
  void claim_isBelievedFromBeforeItsSending_andForNoMoreThanItsLease() {
    a.store().fault(LossyStore.Operation.CLAIM, LossyStore.Fault.HOLD_REPLY);
    Answers answers = new Answers();
    a.store().claim(request(false), answers);
    await("the grant", () -> !state().holders().isEmpty());
    Moment granted = a.store().now();
    elapse(lease.dividedBy(4));

    a.store().heal();
    await("the answer", () -> !answers.isEmpty());

    Grant grant = answers.grants().get(0);
    assertThat(grant.number()).isPositive();
    assertThat(grant.validity().length()).isPositive().isLessThanOrEqualTo(lease);
    assertThat(grant.validity().from().nanos() - granted.nanos()).isLessThanOrEqualTo(0);
  }

  @Test
  void waitingClaim_isToldOfItsGrant_whateverEndsTheHolder() {
    HeldGrant held = granted(a, request(false));
    Answers waiting = claim(b, request(true));
    assertThat(waiting.isWaiting()).isTrue();
    assertThat(waiting.grants()).isEmpty();

    assertThat(get(c.store().forceRelease(ledger, held.number()))).isTrue();

    await("the grant", () -> waiting.grants().size() == 1);
    assertThat(waiting.grants().get(0).number()).isGreaterThan(held.number());
  }

  // Withdrawals. --------------------------------------------------------------------------------

  @Test
  void withdrawnWaiter_isNotGranted() {
    HeldGrant held = granted(a, request(false));
    ClaimRequest given = request(true);
    Answers waiting = claim(b, given);

    get(b.store().withdraw(given));
    release(a, held);

    elapse(lease.dividedBy(10));
    assertThat(state().holders()).isEmpty();
    assertThat(state().waiters()).isEmpty();
    assertThat(waiting.grants()).isEmpty();
  }

  @Test
  void withdrawnGrant_opensTheName() {
    ClaimRequest request = request(false);
    HeldGrant held = granted(a, request);

    get(a.store().withdraw(request));

    assertThat(state().holders()).isEmpty();
    assertThat(granted(b, request(false)).number()).isGreaterThan(held.number());
  }

  @Test
  void withdrawalOfSomethingUnknown_isHarmless() {
    HeldGrant held = granted(a, request(false));

    get(b.store().withdraw(request(false)));
    get(b.store().withdraw(request(true)));

    assertThat(renew(a, held)).isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void withdrawalRepeated_leavesTheNextHolderAlone() {
    ClaimRequest request = request(false);
    granted(a, request);
    get(a.store().withdraw(request));
    HeldGrant next = granted(b, request(false));

    get(a.store().withdraw(request));

    assertThat(renew(b, next)).isInstanceOf(Renewal.Renewed.class);
  }

  // Releases. -----------------------------------------------------------------------------------

  @Test
  void releaseByAnotherOwner_changesNothing() {
    HeldGrant held = granted(a, request(false));
    HeldGrant forged = new HeldGrant(request(false), held.number());

    assertThat(release(b, forged)).isEqualTo(Release.GONE);

    assertThat(state().holders()).hasSize(1);
    assertThat(renew(a, held)).isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void releaseOfAnOldGrant_leavesTheNextHolderAlone() {
    HeldGrant old = granted(a, request(false));
    assertThat(release(a, old)).isEqualTo(Release.RELEASED);
    HeldGrant next = granted(b, request(false));

    assertThat(release(a, old)).isEqualTo(Release.GONE);

    assertThat(state().holders())
        .extracting(NameState.Holder::number)
        .containsExactly(next.number());
  }

  // Renewals. -----------------------------------------------------------------------------------

  @Test
  void renewalOfAReleasedGrant_saysThatItIsGone() {
    HeldGrant held = granted(a, request(false));
    release(a, held);

    assertThat(renew(a, held)).isEqualTo(Renewal.GONE);

    assertThat(state().holders()).isEmpty();
  }

  @Test
  void renewalOfAGrantThatRanOut_saysThatItIsGone_andTakesNothing() {
    if (!givesOrRefuses(Guarantee.LEASE_PER_HOLD)) {
      return;
    }
    HeldGrant held = granted(a, request(false));
    elapseUntilFree(b, ledger, lease);

    assertThat(renew(a, held)).isEqualTo(Renewal.GONE);

    assertThat(state().holders()).isEmpty();
  }

  @Test
  void renewalOfAGrantThatSomeoneElseHasNow_saysThatItIsGone() {
    HeldGrant old = granted(a, request(false));
    assertThat(get(b.store().forceRelease(ledger, old.number()))).isTrue();
    HeldGrant next = granted(b, request(false));

    assertThat(renew(a, old)).isEqualTo(Renewal.GONE);

    assertThat(renew(b, next)).isInstanceOf(Renewal.Renewed.class);
  }

  @Test
  void renewalByAnotherOwner_saysThatItIsGone() {
    HeldGrant held = granted(a, request(false));

    assertThat(renew(b, new HeldGrant(request(false), held.number()))).isEqualTo(Renewal.GONE);
  }

  @Test
  void manyRenewals_areAnsweredEachForItself_inTheirOrder() {
    HeldGrant live = granted(a, request(false));
    HeldGrant gone = new HeldGrant(request(false), live.number());

    List<CompletableFuture<Renewal>> answers =
        a.store()
            .renew(
                List.of(
                    new RenewRequest(gone, lease),
                    new RenewRequest(live, lease),
                    new RenewRequest(gone, lease)));

    assertThat(answers).hasSize(3);
    assertThat(get(answers.get(0))).isEqualTo(Renewal.GONE);
    assertThat(get(answers.get(1))).isInstanceOf(Renewal.Renewed.class);
    assertThat(get(answers.get(2))).isEqualTo(Renewal.GONE);
  }

  @Test
  void renewalThatCrossesAReleaseWhichKeepsTheNameClosed_doesNotBringTheGrantBack() {
    if (!givesOrRefuses(Guarantee.KEEP_AT_LEAST)) {
      return;
    }
    HeldGrant held = granted(a, request(false));
    LockStore store = a.store();
    assertThat(get(store.release(new ReleaseRequest(held, lease.dividedBy(2)))))
        .isEqualTo(Release.RELEASED);

    assertThat(renew(a, held)).isEqualTo(Renewal.GONE);

    elapse(lease.multipliedBy(3).dividedBy(4));
    awaitFree(b, ledger);
  }

  // Modes. --------------------------------------------------------------------------------------

  @Test
  void sharedClaim_isGrantedBesideOthers_andExclusiveIsNot() {
    if (!givesOrRefuses(Guarantee.SHARED_MODE)) {
      return;
    }
    HeldGrant one = granted(a, request(Mode.SHARED, Duration.ZERO, false));
    HeldGrant two = granted(b, request(Mode.SHARED, Duration.ZERO, false));

    assertThat(claim(c, request(false)).isRefused()).isTrue();
    assertThat(two.number()).isNotEqualTo(one.number());
    assertThat(state().holders()).extracting(NameState.Holder::mode).containsOnly(Mode.SHARED);
  }

  @Test
  void permits_areCountedByWhatEachClaimTook() {
    if (!givesOrRefuses(Guarantee.PERMITS)) {
      return;
    }
    HeldGrant two = granted(a, request(Mode.permits(2, 3), Duration.ZERO, false));

    assertThat(claim(b, request(Mode.permits(2, 3), Duration.ZERO, false)).isRefused()).isTrue();
    granted(b, request(Mode.permits(1, 3), Duration.ZERO, false));
    assertThat(claim(c, request(Mode.permits(1, 3), Duration.ZERO, false)).isRefused()).isTrue();
    release(a, two);
    granted(c, request(Mode.permits(2, 3), Duration.ZERO, false));
  }
}
