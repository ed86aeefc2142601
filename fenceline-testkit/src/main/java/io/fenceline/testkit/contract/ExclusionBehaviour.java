package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.ALREADY_LOST;
import static io.fenceline.ReleaseOutcome.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockTimeoutException;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One holder at a time, and what a release does. */
abstract class ExclusionBehaviour extends Scenario {

  ExclusionBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void freeLock_isAcquiredAtOnce() {
    Hold hold = a.take(ledger);

    assertThat(hold.isValid()).isTrue();
    assertThat(hold.name()).isEqualTo(ledger);
    assertThat(hold.token()).isPositive();
    assertThat(hold.lease()).isEqualTo(lease);
  }

  @Test
  void heldLock_isRefusedToATry_ofAnotherProcess() {
    Hold hold = a.take(ledger);

    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void heldLock_isRefusedToATry_ofTheSameProcess() {
    a.take(ledger);

    assertThat(a.tryTake(ledger)).isEmpty();
  }

  @Test
  void acquireWithoutPatience_timesOutAtOnce_andNamesTheHolder() {
    Hold hold = a.take(ledger);

    assertThatThrownBy(() -> acquire(b.lock(ledger), Duration.ZERO))
        .isInstanceOfSatisfying(
            LockTimeoutException.class,
            timeout -> {
              assertThat(timeout.name()).isEqualTo(ledger);
              assertThat(timeout.maxWait()).isZero();
              assertThat(timeout.holder()).contains("a");
              assertThat(timeout.holderToken()).contains(hold.token());
              assertThat(timeout.holderLeaseLeft().orElseThrow())
                  .isBetween(Duration.ofNanos(1), lease);
              assertThat(timeout).hasMessageContaining("'" + ledger + "' was not acquired within");
            });
  }

  @Test
  void releasedLock_isFreeForOthers() {
    Hold hold = a.take(ledger);

    assertThat(hold.release()).isEqualTo(RELEASED);

    assertThat(hold.isValid()).isFalse();
    assertThat(b.take(ledger).isValid()).isTrue();
  }

  @Test
  void waiter_getsTheLock_whenTheHolderReleases() {
    Hold first = a.take(ledger);
    Blocked<Hold> second = acquiring(b.lock(ledger), ample);
    awaitContended(b, ledger, 1);
    assertThat(second.isDone()).isFalse();

    first.release();

    assertThat(second.result().isValid()).isTrue();
    assertThat(a.tryTake(ledger)).isEmpty();
  }

  @Test
  void waiter_getsTheLock_whenTheHolderHasVanished_andItsLeaseIsOver() {
    a.take(ledger);
    Blocked<Hold> second = acquiring(b.lock(ledger), ample);
    awaitContended(b, ledger, 1);

    a.vanish();
    elapse(lease.multipliedBy(2));

    assertThat(second.result().isValid()).isTrue();
  }

  @Test
  void locksOfDifferentNames_doNotDisturbEachOther() {
    Hold one = a.take(ledger);
    Hold other = b.take(name("journal"));

    assertThat(one.release()).isEqualTo(RELEASED);

    assertThat(other.isValid()).isTrue();
    assertThat(a.tryTake(name("journal"))).isEmpty();
  }

  @Test
  void leaseThatRanOut_letsOthersIn() {
    Hold stale = a.take(ledger, fixed());

    elapseUntilFree(b, ledger, lease);

    assertThat(b.take(ledger).isValid()).isTrue();
    assertThat(stale.isValid()).isFalse();
  }

  @Test
  void heldLock_isStillRefused_shortlyBeforeItsLeaseEnds() {
    a.take(ledger, fixed());

    elapse(lease.dividedBy(2));

    assertThat(b.tryTake(ledger)).isEmpty();
  }

  @Test
  void releaseAfterTheLeaseEnded_isRefused_andLeavesTheNewHolderAlone() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);
    Hold current = b.take(ledger);

    assertThat(stale.release()).isEqualTo(ALREADY_LOST);

    assertThat(current.token()).isGreaterThan(stale.token());
    assertThat(c.tryTake(ledger)).isEmpty();
    assertThat(current.release()).isEqualTo(RELEASED);
  }

  @Test
  void secondRelease_givesTheFirstAnswer_andLeavesTheNewHolderAlone() {
    Hold hold = a.take(ledger);
    assertThat(hold.release()).isEqualTo(RELEASED);
    Hold current = b.take(ledger);

    assertThat(hold.release()).isEqualTo(RELEASED);
    hold.close();

    assertThat(current.isValid()).isTrue();
    assertThat(c.tryTake(ledger)).isEmpty();
  }

  @Test
  void anyThread_mayRelease() {
    Hold hold = a.take(ledger);

    assertThat(inThread(hold::release).result()).isEqualTo(RELEASED);

    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void releaseOnAnInterruptedThread_works_andKeepsTheInterrupt() {
    Hold hold = a.take(ledger);

    Blocked<?> release =
        inThread(
            () -> {
              Thread.currentThread().interrupt();
              return hold.release();
            });

    assertThat(release.result()).isEqualTo(RELEASED);
    assertThat(release.wasInterruptedAtTheEnd()).isTrue();
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void releaseOrThrow_throwsForALostHold() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);

    assertThatThrownBy(stale::releaseOrThrow)
        .isInstanceOfSatisfying(
            LockLostException.class,
            lost -> {
              assertThat(lost.name()).isEqualTo(ledger);
              assertThat(lost.token()).isEqualTo(stale.token());
              assertThat(lost.lease()).isEqualTo(lease);
            });
  }

  @Test
  void closeOfALostHold_doesNotThrow() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);

    stale.close();

    assertThat(stale.release()).isEqualTo(ALREADY_LOST);
  }

  @Test
  void manyThreadsOfManyProcesses_neverHoldTogether_andTheirTokensRise() {
    AtomicInteger inside = new AtomicInteger();
    List<Long> tokens = new ArrayList<>();
    List<Blocked<Boolean>> workers = new ArrayList<>();
    for (Peer peer : List.of(a, a, b, b, c)) {
      workers.add(
          inThread(
              () -> {
                for (int i = 0; i < 8; i++) {
                  try (Hold hold = peer.lock(ledger).acquire(ample)) {
                    assertThat(inside.incrementAndGet()).isOne();
                    tokens.add(hold.token()); // Not synchronized: the lock is what protects it.
                    assertThat(inside.decrementAndGet()).isZero();
                  }
                }
                return true;
              }));
    }

    workers.forEach(worker -> assertThat(worker.result()).isTrue());

    assertThat(tokens).hasSize(40).isSorted().doesNotHaveDuplicates();
  }
}
