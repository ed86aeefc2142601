package io.fenceline.testkit.contract;

import static io.fenceline.ReleaseOutcome.ALREADY_LOST;
import static io.fenceline.ReleaseOutcome.RELEASED;
import static io.fenceline.testkit.fault.LossyStore.Fault.LOSE_REQUEST;
import static io.fenceline.testkit.fault.LossyStore.Operation.RENEW;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.event.Endangered;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Loss is an event and not a surprise (I2, I6). */
abstract class LossBehaviour extends Scenario {

  LossBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void leaseThatRanOut_isToldToTheListener_theFuture_andTheClientsListener() {
    Hold hold = a.take(ledger, fixed());
    List<Lost> heard = new CopyOnWriteArrayList<>();
    hold.onLost(heard::add);
    CompletableFuture<Lost> lost = hold.lost();

    elapse(lease);

    Lost how = get(lost);
    assertThat(how.name()).isEqualTo(ledger);
    assertThat(how.id()).isEqualTo(hold.id());
    assertThat(how.token()).isEqualTo(hold.token());
    assertThat(how.reason()).isEqualTo(LossReason.EXPIRED);
    assertThat(how.lease()).isEqualTo(lease);
    await("the listener", () -> heard.size() == 1);
    await("the event", () -> a.events().of(Lost.class).size() == 1);
    assertThat(heard).containsExactly(how);
    assertThat(a.events().of(Lost.class)).containsExactly(how);
  }

  @Test
  void whoeverHearsOfTheLoss_seesAnInvalidHold() {
    Hold hold = a.take(ledger, fixed());
    List<Boolean> validWhenTold = new CopyOnWriteArrayList<>();
    hold.onLost(lost -> validWhenTold.add(hold.isValid()));

    elapse(lease);

    await("the listener", () -> validWhenTold.size() == 1);
    assertThat(validWhenTold).containsExactly(false);
  }

  @Test
  void lostHold_answersAsLost_toEveryCall() {
    Hold hold = a.take(ledger, fixed());
    elapse(lease);

    assertThat(hold.isValid()).isFalse();
    assertThat(hold.remaining()).isZero();
    assertThatThrownBy(() -> hold.ensure(Duration.ZERO)).isInstanceOf(LockLostException.class);
    assertThatThrownBy(hold::reenter).isInstanceOf(LockLostException.class);
    assertThatThrownBy(() -> hold.extend(lease)).isInstanceOf(LockLostException.class);
    assertThat(hold.release()).isEqualTo(ALREADY_LOST);
  }

  @Test
  void lostHold_staysLost_thoughTheSameProcessAcquiresAgain() {
    Hold stale = a.take(ledger, fixed());
    elapseUntilFree(b, ledger, lease);
    Hold current = a.take(ledger);

    assertThat(stale.isValid()).isFalse();
    assertThat(stale.release()).isEqualTo(ALREADY_LOST);
    assertThat(current.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
  }

  @Test
  void listenerThatComesLate_isToldOfTheLossAtOnce() {
    Hold hold = a.take(ledger, fixed());
    elapse(lease);
    assertThat(hold.isValid()).isFalse();
    List<Lost> heard = new CopyOnWriteArrayList<>();

    hold.onLost(heard::add);

    await("the listener", () -> heard.size() == 1);
    assertThat(get(hold.lost()).id()).isEqualTo(hold.id());
  }

  @Test
  void releasedHold_isNeverReportedLost() {
    Hold hold = a.take(ledger);
    List<Lost> heard = new CopyOnWriteArrayList<>();
    hold.onLost(heard::add);
    CompletableFuture<Lost> lost = hold.lost();

    assertThat(hold.release()).isEqualTo(RELEASED);
    elapse(lease.multipliedBy(2));
    hold.onLost(heard::add);

    assertThat(heard).isEmpty();
    assertThat(lost).isNotDone();
    assertThat(hold.lost()).isNotDone();
    assertThat(a.events().of(Lost.class)).isEmpty();
  }

  @Test
  void throwingListener_keepsNobodyElseFromHearing() {
    Hold hold = a.take(ledger, fixed());
    List<Lost> heard = new CopyOnWriteArrayList<>();
    hold.onLost(
        lost -> {
          throw new IllegalStateException("a listener that fails");
        });
    hold.onLost(heard::add);

    elapse(lease);

    await("the second listener", () -> heard.size() == 1);
  }

  @Test
  void forcedRelease_isNoticedAtTheNextRenewal() {
    Hold hold = a.take(ledger);
    CompletableFuture<Lost> lost = hold.lost();

    assertThat(b.fenceline().forceRelease(ledger, hold.token())).isTrue();
    elapse(lease);

    assertThat(get(lost).reason()).isEqualTo(LossReason.GONE);
    assertThat(hold.isValid()).isFalse();
  }

  @Test
  void forcedRelease_isNoticedAtTheRelease() {
    Hold hold = a.take(ledger);
    CompletableFuture<Lost> lost = hold.lost();

    assertThat(b.fenceline().forceRelease(ledger, hold.token())).isTrue();

    assertThat(hold.release()).isEqualTo(ALREADY_LOST);
    assertThat(get(lost).reason()).isEqualTo(LossReason.GONE);
    assertThatThrownBy(hold::releaseOrThrow).isInstanceOf(LockLostException.class);
  }

  @Test
  void renewalsThatFail_endangerTheHold_andThenLoseIt() {
    Hold hold = a.take(ledger);
    CompletableFuture<Lost> lost = hold.lost();

    a.store().fault(RENEW, LOSE_REQUEST);
    elapse(lease);

    assertThat(get(lost).reason()).isEqualTo(LossReason.EXPIRED);
    assertThat(a.store().met()).isPositive();
    await("the event", () -> a.events().of(Lost.class).size() == 1);
    List<LockEvent> signals =
        a.events().all().stream()
            .filter(event -> event instanceof Endangered || event instanceof Lost)
            .toList();
    assertThat(signals).hasSize(2);
    assertThat(signals.get(0))
        .isInstanceOfSatisfying(
            Endangered.class,
            endangered -> {
              assertThat(endangered.id()).isEqualTo(hold.id());
              assertThat(endangered.remaining()).isBetween(Duration.ofNanos(1), lease);
            });
  }

  @Test
  void renewalsThatFailForAWhile_areMadeUpFor() {
    Hold hold = a.take(ledger);

    a.store().fault(RENEW, LOSE_REQUEST);
    elapse(lease.dividedBy(2));
    await("a renewal to be lost", () -> a.store().met() > 0);
    a.store().heal();
    elapse(lease.multipliedBy(2));

    assertThat(hold.isValid()).isTrue();
    assertThat(b.tryTake(ledger)).isEmpty();
    assertThat(hold.release()).isEqualTo(RELEASED);
  }

  @Test
  void loss_opensTheNameForWaitersOfTheSameProcess() {
    Hold stale = a.take(ledger, fixed());
    CompletableFuture<Hold> next = a.lock(ledger).acquireAsync(ample);

    elapse(lease.multipliedBy(2));

    assertThat(get(next).isValid()).isTrue();
    assertThat(get(next).token()).isGreaterThan(stale.token());
  }

  @Test
  void lossOfOneHold_isToldOnce_howeverOftenItWasReentered() {
    Hold hold = a.take(ledger, fixed());
    Hold again = reenter(hold);
    List<Lost> heard = new CopyOnWriteArrayList<>();
    hold.onLost(heard::add);
    again.onLost(heard::add);

    elapse(lease.multipliedBy(2));

    await("both listeners", () -> heard.size() == 2);
    assertThat(a.events().of(Lost.class)).hasSize(1);
    assertThat(again.release()).isEqualTo(ALREADY_LOST);
  }

  @Test
  void interruptOnLoss_interruptsTheThreadThatAcquired() {
    CountDownLatch acquired = new CountDownLatch(1);
    Blocked<Boolean> worker =
        inThread(
            () -> {
              try (Hold hold = a.lock(ledger, fixed().interruptOnLoss()).acquire(ample)) {
                acquired.countDown();
                new CountDownLatch(1).await();
                return hold.isValid();
              }
            });
    await("the worker to hold the lock", () -> acquired.getCount() == 0);

    elapse(lease);

    assertThat(worker.failure()).isInstanceOf(InterruptedException.class);
  }

  @Test
  void interruptOnLoss_interruptsTheThread_howeverItAcquired() {
    LockOptions options = fixed().interruptOnLoss();
    LockOptions retrying =
        options.waiting(WaitStrategy.retry(1_000, Duration.ofMillis(10), Duration.ZERO));
    Map<String, Callable<?>> ways = new LinkedHashMap<>();
    ways.put("tryAcquire", () -> a.lock(name("try"), options).tryAcquire());
    ways.put("retry", () -> acquire(a.lock(name("retry"), retrying), ample));
    ways.put(
        "spin", () -> acquire(a.lock(name("spin"), options.waiting(WaitStrategy.spin())), ample));
    ways.put("lockAll", () -> acquire(all("all", options), ample));
    ways.put("lockAll, try", () -> all("all-try", options).tryAcquire());
    ways.put("lockAll, retry", () -> acquire(all("all-retry", retrying), ample));
    ways.put("lock()", () -> locked(name("lock"), options, ReentrantFencedLock::lock));
    ways.put(
        "lockInterruptibly()",
        () -> locked(name("interruptibly"), options, ReentrantFencedLock::lockInterruptibly));
    ways.put("tryLock()", () -> locked(name("try-lock"), options, ReentrantFencedLock::tryLock));
    ways.put(
        "tryLock(time)",
        () -> locked(name("try-time"), options, lock -> lock.tryLock(1, TimeUnit.MINUTES)));
    if (gives(Guarantee.SHARED_MODE)) {
      ways.put(
          "reader",
          () -> acquire(a.fenceline().readWriteLock(name("reader"), options).readLock(), ample));
    }
    if (gives(Guarantee.PERMITS)) {
      ways.put(
          "permits",
          () -> acquire(a.fenceline().semaphore(name("permits"), 3, options).several(2), ample));
    }
    CountDownLatch acquired = new CountDownLatch(ways.size());
    Map<String, Blocked<Boolean>> workers = new LinkedHashMap<>();
    ways.forEach(
        (way, take) ->
            workers.put(
                way,
                inThread(
                    () -> {
                      Object held = take.call();
                      acquired.countDown();
                      new CountDownLatch(1).await();
                      return held == null;
                    })));
    await("all workers to hold their locks", () -> acquired.getCount() == 0);

    elapse(lease);

    workers.forEach(
        (way, worker) ->
            assertThat(worker.failure()).as(way).isInstanceOf(InterruptedException.class));
  }

  private Acquirable<MultiHold> all(String base, LockOptions options) {
    return a.fenceline().lockAll(List.of(name(base + "-1"), name(base + "-2")), options);
  }

  /** A call of a lock that may block. */
  private interface Locking {
    void lock(ReentrantFencedLock lock) throws InterruptedException;
  }

  private ReentrantFencedLock locked(String name, LockOptions options, Locking call)
      throws InterruptedException {
    ReentrantFencedLock lock = a.lock(name, options).asReentrantLock();
    call.lock(lock);
    assertThat(lock.holdCount()).isOne();
    return lock;
  }

  @Test
  void lossOfSeveralLocksTogether_interruptsOnce() {
    CountDownLatch acquired = new CountDownLatch(1);
    CountDownLatch stop = new CountDownLatch(1);
    Blocked<Boolean> worker =
        inThread(
            () -> {
              try (MultiHold hold = acquire(all("together", fixed().interruptOnLoss()), ample)) {
                acquired.countDown();
                try {
                  new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                  // The first loss. The other one must not interrupt what is done about it.
                }
                stop.await();
                return hold.isValid();
              }
            });
    await("the worker to hold the locks", () -> acquired.getCount() == 0);
    elapse(lease);
    await("both losses", () -> a.events().of(Lost.class).size() == 2);

    stop.countDown();

    assertThat(worker.result()).isFalse();
  }

  @Test
  void withoutThatOption_aLossInterruptsNobody() {
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch acquired = new CountDownLatch(1);
    Blocked<Boolean> worker =
        inThread(
            () -> {
              try (Hold hold = a.lock(ledger, fixed()).acquire(ample)) {
                acquired.countDown();
                stop.await();
                return hold.isValid();
              }
            });
    await("the worker to hold the lock", () -> acquired.getCount() == 0);
    elapse(lease);
    await("the loss", () -> a.events().of(Lost.class).size() == 1);

    stop.countDown();

    assertThat(worker.result()).isFalse();
  }

  @SuppressWarnings("MustBeClosedChecker") // Lost in the end.
  private static Hold reenter(Hold hold) {
    return hold.reenter();
  }
}
