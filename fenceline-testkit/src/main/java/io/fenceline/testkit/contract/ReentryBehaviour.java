package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.RELEASED;
import static io.fenceline.testkit.fault.LossyStore.Operation.CLAIM;
import static io.fenceline.testkit.fault.LossyStore.Operation.RELEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Entering again: explicitly by the hold, and by thread as a {@code Lock}. */
// What stays open or locked here is what the tests are about.
@SuppressWarnings({"MustBeClosedChecker", "LockNotBeforeTry"})
abstract class ReentryBehaviour extends Scenario {

  ReentryBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void reenter_sharesTheGrantAndTheToken_withoutARoundTrip() {
    Hold hold = a.take(ledger);
    int claims = a.store().asked(CLAIM);

    Hold again = hold.reenter();

    assertThat(again.token()).isEqualTo(hold.token());
    assertThat(again.id()).isEqualTo(hold.id());
    assertThat(again.isValid()).isTrue();
    assertThat(a.store().asked(CLAIM)).isEqualTo(claims);
  }

  @Test
  void lockIsGivenBack_onlyWithTheLastOfItsHolds() {
    Hold hold = a.take(ledger);
    Hold again = hold.reenter();

    assertThat(hold.release()).isEqualTo(RELEASED);
    assertThat(hold.isValid()).isFalse();
    assertThat(again.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(a.store().asked(RELEASE)).isZero();

    assertThat(again.release()).isEqualTo(RELEASED);
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void releasedHold_cannotBeReentered() {
    Hold hold = a.take(ledger);
    hold.release();

    assertThatThrownBy(hold::reenter).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void plainLock_isNotReentrant() {
    a.take(ledger);

    assertThat(a.lock(ledger).tryAcquire()).isEmpty();
  }

  @Test
  void acquireOfWhatThisClientHolds_saysSo_andWhatToUse() {
    a.take(ledger);
    Blocked<Hold> nested = acquiring(a.lock(ledger), lease.dividedBy(10));
    Blocked<Hold> another = acquiring(b.lock(ledger), lease.multipliedBy(2)); // For an answer.
    elapseUntil("both to time out", () -> nested.isDone() && another.isDone());

    assertThat(nested.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
        .hasMessageContaining("This client itself holds the lock")
        .hasMessageContaining("reenter()");
    assertThat(another.failure())
        .isInstanceOfSatisfying(
            LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isFalse())
        .hasMessageNotContaining("This client itself");
  }

  @Test
  void acquireThatDoesNotWaitInTurn_saysSo_too() {
    a.take(ledger);
    LockOptions retrying =
        renewed().waiting(WaitStrategy.retry(1, lease.dividedBy(20), Duration.ZERO));
    Blocked<Hold> withoutAWait = acquiring(a.lock(ledger), Duration.ZERO);
    Blocked<Hold> asking = acquiring(a.lock(ledger, retrying), ample);
    elapseUntil("both to give up", () -> withoutAWait.isDone() && asking.isDone());

    for (Blocked<Hold> nested : List.of(withoutAWait, asking)) {
      assertThat(nested.failure())
          .isInstanceOfSatisfying(
              LockTimeoutException.class, e -> assertThat(e.heldByThisClient()).isTrue())
          .hasMessageContaining("reenter()");
    }
  }

  @Test
  void threadThatOwnsTheLock_entersAgain_withTheSameToken() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();
    lock.lock();
    long token = lock.token();
    int claims = a.store().asked(CLAIM);

    lock.lock();
    assertThat(lock.tryLock()).isTrue();

    assertThat(lock.holdCount()).isEqualTo(3);
    assertThat(lock.token()).isEqualTo(token);
    assertThat(lock.hold().isValid()).isTrue();
    assertThat(a.store().asked(CLAIM)).isEqualTo(claims);
    lock.unlock();
    lock.unlock();
    assertThat(b.tryTake(ledger)).isEmpty();
    lock.unlock();
    assertThat(lock.holdCount()).isZero();
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void viewsOfOneName_shareTheirOwners() {
    ReentrantFencedLock one = a.lock(ledger).asReentrantLock();
    ReentrantFencedLock other = a.lock(ledger).asReentrantLock();
    one.lock();

    assertThat(other.tryLock()).isTrue();

    assertThat(one.holdCount()).isEqualTo(2);
    other.unlock();
    one.unlock();
  }

  @Test
  void timeWithoutAUnit_isRefused_whoeverOwnsTheLock() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();
    assertThatThrownBy(() -> tryLockWithoutUnit(lock)).isInstanceOf(NullPointerException.class);
    lock.lock();

    assertThatThrownBy(() -> tryLockWithoutUnit(lock)).isInstanceOf(NullPointerException.class);

    assertThat(lock.holdCount()).isOne();
    lock.unlock();
  }

  @SuppressWarnings("NullAway") // Null is what it is about.
  private static boolean tryLockWithoutUnit(ReentrantFencedLock lock) throws InterruptedException {
    return lock.tryLock(1, null);
  }

  @Test
  void holdThatWasReleasedBehindTheView_isAcquiredAnew() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();
    lock.lock();
    long first = lock.token();
    lock.hold().release();
    awaitFree(b, ledger);

    lock.lock();

    assertThat(lock.token()).isGreaterThan(first);
    assertThat(lock.holdCount()).isOne();
    assertThat(b.tryTake(ledger)).isEmpty();
    lock.unlock();
    assertThat(b.tryTake(ledger)).isPresent();
  }

  @Test
  void otherThreads_areKeptOut() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();
    lock.lock();

    assertThat(inThread(() -> lock.tryLock()).result()).isFalse();
    assertThat(inThread(lock::holdCount).result()).isZero();
    lock.unlock();
  }

  @Test
  void otherProcesses_areKeptOut() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();
    lock.lock();

    assertThat(b.lock(ledger).asReentrantLock().tryLock()).isFalse();
    lock.unlock();
    assertThat(b.lock(ledger).asReentrantLock().tryLock()).isTrue();
    b.lock(ledger).asReentrantLock().unlock();
  }

  @Test
  void unlockByAThreadThatDoesNotOwnIt_isRefused() {
    ReentrantFencedLock lock = a.lock(ledger).asReentrantLock();

    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(lock::token).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();
    assertThat(inThread(() -> unlock(lock)).failure())
        .isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lock.holdCount()).isOne();
    lock.unlock();
  }

  private static boolean unlock(ReentrantFencedLock lock) {
    lock.unlock();
    return true;
  }

  @Test
  void lock_waitsForItsTurn() {
    Hold hold = a.take(ledger);
    ReentrantFencedLock lock = b.lock(ledger).asReentrantLock();
    Blocked<Long> waiting =
        inThread(
            () -> {
              lock.lock();
              try {
                return lock.token();
              } finally {
                lock.unlock();
              }
            });
    awaitContended(b, ledger, 1);

    hold.release();

    assertThat(waiting.result()).isGreaterThan(hold.token());
  }

  @Test
  void tryLockWithATime_givesUpInTime() {
    a.take(ledger);
    ReentrantFencedLock lock = b.lock(ledger).asReentrantLock();
    long millis = lease.dividedBy(2).toMillis();
    Blocked<Boolean> waiting = inThread(() -> lock.tryLock(millis, TimeUnit.MILLISECONDS));
    awaitContended(b, ledger, 1);

    elapse(lease.dividedBy(2));

    assertThat(waiting.result()).isFalse();
  }

  @Test
  void lockInterruptibly_isInterrupted_andLeavesNothingBehind() {
    Hold hold = a.take(ledger);
    ReentrantFencedLock lock = b.lock(ledger).asReentrantLock();
    Blocked<Boolean> waiting =
        inThread(
            () -> {
              lock.lockInterruptibly();
              return true;
            });
    awaitContended(b, ledger, 1);

    waiting.interrupt();

    assertThat(waiting.failure()).isInstanceOf(InterruptedException.class);
    hold.release();
    awaitFree(c, ledger);
    assertThat(c.take(ledger).isValid()).isTrue();
  }

  @Test
  void lock_isNotInterrupted_butKeepsTheInterrupt() {
    Hold hold = a.take(ledger);
    ReentrantFencedLock lock = b.lock(ledger).asReentrantLock();
    Blocked<Integer> waiting =
        inThread(
            () -> {
              lock.lock();
              int count = lock.holdCount();
              lock.unlock();
              return count;
            });
    awaitContended(b, ledger, 1);

    waiting.interrupt();
    hold.release();

    assertThat(waiting.result()).isOne();
    assertThat(waiting.wasInterruptedAtTheEnd()).isTrue();
  }

  @Test
  void lostLock_isNotEnteredAgain_andUnlockSaysSo() {
    ReentrantFencedLock lock = a.lock(ledger, fixed()).asReentrantLock();
    lock.lock();
    elapseUntilFree(b, ledger, lease);

    assertThat(lock.tryLock()).isFalse();
    assertThatThrownBy(lock::lock).isInstanceOf(LockLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);

    assertThat(lock.holdCount()).isZero();
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
  }

  @Test
  void conditions_areRefused() {
    assertThatThrownBy(() -> a.lock(ledger).asReentrantLock().newCondition())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void handedOffHold_doesNotReenterTheOldOne() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> second = a.lock(ledger).acquireAsync(ample);
    first.release();
    Hold next = get(second);

    assertThatThrownBy(first::reenter).isInstanceOf(IllegalStateException.class);
    assertThat(next.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
  }
}
