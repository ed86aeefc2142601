package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.HandedOff;
import io.fenceline.settings.HandOff;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tokens rise, whatever ended the hold before (I3). */
abstract class TokenBehaviour extends Scenario {
  private static final HandOff GENEROUS = new HandOff(255, Duration.ofDays(1));

  TokenBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void tokensRise_acrossRelease() {
    List<Long> tokens = new ArrayList<>();
    for (Peer peer : List.of(a, b, a, a, c)) {
      Hold hold = peer.take(ledger);
      tokens.add(hold.token());
      hold.release();
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void tokensRise_acrossExpiry() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);

    assertThat(b.take(ledger).token()).isGreaterThan(stale.token());
  }

  @Test
  void tokensRise_acrossExpiry_forTheSameProcess() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);

    assertThat(a.take(ledger).token()).isGreaterThan(stale.token());
  }

  @Test
  void tokensRise_acrossAForcedRelease() {
    Hold stale = a.take(ledger);
    assertThat(b.fenceline().forceRelease(ledger, stale.token())).isTrue();

    assertThat(b.take(ledger).token()).isGreaterThan(stale.token());
  }

  @Test
  void tokensRise_acrossTheQueueOfTheStore() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> second = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    first.release();

    Hold next = get(second);
    assertThat(next.token()).isGreaterThan(first.token());
    next.release();

    assertThat(c.take(ledger).token()).isGreaterThan(next.token());
  }

  @Test
  void tokensRise_whenANameWasForgottenAndIsUsedAgain() {
    Hold first = a.take(ledger);
    first.release();
    a.fenceline().close();
    b.fenceline().close();
    elapse(lease);

    assertThat(peer("later").take(ledger).token()).isGreaterThan(first.token());
  }

  @Test
  void tokensRise_acrossALocalHandOff_withinTheSameGrant() {
    Peer d = peer("d", builder -> builder.handOff(GENEROUS));
    Hold first = d.take(ledger);
    CompletableFuture<Hold> second = d.lock(ledger).acquireAsync(ample);
    int claims = d.store().asked(LossyStore.Operation.CLAIM);

    first.release();
    Hold next = get(second);

    assertThat(next.token()).isEqualTo(first.token() + 1);
    assertThat(next.token() >> 8).isEqualTo(first.token() >> 8);
    assertThat(d.store().asked(LossyStore.Operation.CLAIM)).isEqualTo(claims);
    assertThat(d.store().asked(LossyStore.Operation.RELEASE)).isZero();
    await("the event", () -> d.events().of(HandedOff.class).size() == 1);
    assertThat(d.events().of(HandedOff.class).get(0).token()).isEqualTo(next.token());
    next.release();
    assertThat(b.take(ledger).token()).isGreaterThan(next.token());
  }

  /** Such a grant may run for a short time at first; all the more reason to pass it on. */
  @Test
  void grantThatWasWaitedFor_isHandedOff_beforeItsFirstRenewal() {
    Peer d = peer("d", builder -> builder.handOff(GENEROUS));
    LockOptions terms = renewed().lease(lease.multipliedBy(2));
    Hold elsewhere = a.take(ledger);
    CompletableFuture<Hold> first = d.lock(ledger, terms).acquireAsync(ample);
    CompletableFuture<Hold> second = d.lock(ledger, terms).acquireAsync(ample);
    awaitContended(d, ledger, 2);
    d.store().fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);

    elsewhere.release();
    get(first).release();

    assertThat(get(second).token()).isEqualTo(get(first).token() + 1);
    d.store().heal();
  }

  @Test
  void handOffs_endAtTheirLimit_soThatOtherProcessesGetTheirTurn() {
    if (!givesOrRefuses(Guarantee.FAIR)) {
      return; // The claim that follows may be served before the one that waits elsewhere.
    }
    Peer d = peer("d", builder -> builder.handOff(new HandOff(1, Duration.ofDays(1))));
    Hold first = d.take(ledger);
    CompletableFuture<Hold> second = d.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> third = d.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> other = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    first.release();
    get(second).release();
    Hold elsewhere = get(other);

    assertThat(third).isNotDone();
    assertThat(elsewhere.token()).isGreaterThan(get(second).token());
    elsewhere.release();
    assertThat(get(third).token()).isGreaterThan(elsewhere.token());
  }

  @Test
  void fixedLease_isNeverHandedOff_butClaimedAnew() {
    Peer d = peer("d", builder -> builder.handOff(GENEROUS));
    Hold first = d.take(ledger, fixed());
    CompletableFuture<Hold> second = d.lock(ledger, fixed()).acquireAsync(ample);

    first.release();

    assertThat(get(second).token() >> 8).isGreaterThan(first.token() >> 8);
  }

  @Test
  void differentLease_isNotHandedOff_butClaimedAnew() {
    Peer d = peer("d", builder -> builder.handOff(GENEROUS));
    Hold first = d.take(ledger);
    CompletableFuture<Hold> second =
        d.lock(ledger, renewed().lease(lease.multipliedBy(2))).acquireAsync(ample);

    first.release();

    assertThat(get(second).token() >> 8).isGreaterThan(first.token() >> 8);
    assertThat(get(second).lease()).isEqualTo(lease.multipliedBy(2));
  }

  @Test
  void token_staysTheSame_acrossRenewals() {
    Hold hold = a.take(ledger);
    long token = hold.token();

    elapse(lease.multipliedBy(2));

    assertThat(hold.isValid()).isTrue();
    assertThat(hold.token()).isEqualTo(token);
    assertThat(b.inspect(ledger).holders().get(0).token()).isEqualTo(token);
  }

  @Test
  void tokens_areWhatFencesTake_withTheirMode() {
    Hold hold = a.take(ledger);

    assertThat(hold.fencingToken().value()).isEqualTo(hold.token());
    assertThat(hold.fencingToken().exclusive()).isTrue();
  }

  @Test
  void tokenBase_isAddedToEveryGrantNumber() {
    long base = 1L << 40;
    Peer d = peer("d", builder -> builder.tokenBase(base));
    Hold hold = d.take(ledger);

    long bare = a.inspect(ledger).holders().get(0).token();

    assertThat(hold.token()).isEqualTo(bare + (base << 8));
    assertThat(d.inspect(ledger).holders().get(0).token()).isEqualTo(hold.token());
    assertThat(d.fenceline().forceRelease(ledger, hold.token())).isTrue();
  }

  @Test
  void numberThatDoesNotFit_failsTheClaim_andLeavesNothingBehind() {
    Peer d = peer("d", builder -> builder.tokenBase((1L << 55) - 1));

    assertThatThrownBy(() -> d.tryTake(ledger)).isInstanceOf(StoreRefusedException.class);

    awaitFree(a, ledger);
    assertThat(a.take(ledger).isValid()).isTrue();
  }

  @Test
  void tokensOfReaders_areUnique_andAboveTheWriterBefore() {
    if (!givesOrRefuses(Guarantee.SHARED_MODE, () -> a.fenceline().readWriteLock(ledger))) {
      return;
    }
    Hold writer = a.take(ledger);
    writer.release();
    Hold one = b.fenceline().readWriteLock(ledger).readLock().tryAcquire().orElseThrow();
    Hold two = c.fenceline().readWriteLock(ledger).readLock().tryAcquire().orElseThrow();

    assertThat(one.token()).isGreaterThan(writer.token());
    assertThat(two.token()).isGreaterThan(writer.token()).isNotEqualTo(one.token());
    assertThat(one.fencingToken().exclusive()).isFalse();
    one.release();
    two.release();
    assertThat(a.take(ledger).token()).isGreaterThan(Math.max(one.token(), two.token()));
  }
}
