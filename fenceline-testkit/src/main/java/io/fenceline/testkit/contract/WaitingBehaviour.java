package io.fenceline.testkit.contract;

import static io.fenceline.testkit.fault.LossyStore.Operation.CLAIM;
import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.HandOff;
import io.fenceline.settings.Limits;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.testkit.scenario.Blocked;
import io.fenceline.testkit.scenario.Peer;
import io.fenceline.testkit.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Who is next, between processes and within one, and how else one may wait. */
abstract class WaitingBehaviour extends Scenario {

  WaitingBehaviour(LockContract contract) {
    super(contract::harness);
  }

  @Test
  void waitingProcesses_areGrantedInTheirOrder() {
    if (!givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    Hold first = a.take(ledger);
    List<CompletableFuture<Hold>> queue = new ArrayList<>();
    for (Peer peer : List.of(b, c, peer("d"), peer("e"))) {
      queue.add(peer.lock(ledger).acquireAsync(ample));
      awaitContended(peer, ledger, 1);
    }

    first.release();

    long token = first.token();
    for (int i = 0; i < queue.size(); i++) {
      Hold next = get(queue.get(i));
      assertThat(next.token()).isGreaterThan(token);
      for (CompletableFuture<Hold> later : queue.subList(i + 1, queue.size())) {
        assertThat(later).isNotDone();
      }
      token = next.token();
      next.release();
    }
  }

  @Test
  void tryOfAnotherProcess_doesNotOvertakeWhoWaits() {
    if (!givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    Hold first = a.take(ledger);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    first.release();

    assertThat(c.tryTake(ledger)).isEmpty();
    assertThat(get(waiting).isValid()).isTrue();
  }

  @Test
  void holderThatComesBack_waitsBehindOtherProcesses() {
    if (!givesOrRefuses(Guarantee.FAIR)) {
      return;
    }
    Peer d = peer("d", builder -> builder.handOff(HandOff.NONE));
    Hold first = d.take(ledger);
    CompletableFuture<Hold> other = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> back = d.lock(ledger).acquireAsync(ample);

    first.release();

    Hold elsewhere = get(other);
    assertThat(back).isNotDone();
    elsewhere.release();
    assertThat(get(back).token()).isGreaterThan(elsewhere.token());
  }

  @Test
  void callersOfOneProcess_areServedInTheirOrder_byOneClaim() {
    Hold first = a.take(ledger);
    List<CompletableFuture<Hold>> queue = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      queue.add(b.lock(ledger).acquireAsync(ample));
    }
    awaitContended(b, ledger, 5);
    int claims = b.store().asked(CLAIM);
    assertThat(a.inspect(ledger).waiters().size()).isLessThanOrEqualTo(1);

    first.release();

    long token = first.token();
    for (int i = 0; i < queue.size(); i++) {
      Hold next = get(queue.get(i));
      assertThat(next.token()).isGreaterThan(token);
      for (CompletableFuture<Hold> later : queue.subList(i + 1, queue.size())) {
        assertThat(later).isNotDone();
      }
      token = next.token();
      next.release();
    }
    assertThat(claims).isOne();
  }

  @Test
  void tryWithinAProcess_doesNotOvertakeItsWaiters() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    assertThat(b.tryTake(ledger)).isEmpty();

    first.release();
    assertThat(get(waiting).isValid()).isTrue();
  }

  @Test
  void waiterThatVanished_doesNotBlockTheQueue() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> dead = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    CompletableFuture<Hold> next = c.lock(ledger).acquireAsync(ample);
    awaitContended(c, ledger, 1);

    b.vanish();
    first.release();
    elapse(lease.multipliedBy(2));

    assertThat(get(next).isValid()).isTrue();
    assertThat(dead.isDone() && !dead.isCompletedExceptionally()).isFalse();
  }

  /**
   * Each that gives up makes the store look at who is next; that must not keep a dead one alive. A
   * fixed lease starts with the waiter's own question, so the head can't simply be granted.
   */
  @Test
  void waiterThatVanishedAtTheHead_leaves_thoughOthersComeAndGo() {
    Hold first = a.take(ledger, fixed());
    CompletableFuture<Hold> dead = b.lock(ledger, fixed()).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    b.vanish();
    first.release();

    Hold[] got = new Hold[1];
    await("one of those who come and go to be served", () -> visit(got));

    assertThat(got[0].isValid()).isTrue();
    assertThat(dead.isDone() && !dead.isCompletedExceptionally()).isFalse();
  }

  /** The others wait for its patience; once it is forgotten, turns go on as before. */
  @Test
  void oneThatDiesWhileItIsNext_delaysTheOthersByItsPatience_once() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> dead = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);
    List<CompletableFuture<Hold>> queue = new ArrayList<>();
    for (Peer peer : List.of(c, peer("d"), peer("e"))) {
      queue.add(peer.lock(ledger).acquireAsync(ample));
      awaitContended(peer, ledger, 1);
    }

    b.vanish();
    first.release();
    elapse(
        lease.multipliedBy(2)); // No patience is longer than a lease, and nobody looks for longer.
    Hold next = next(queue);
    long freed = System.nanoTime();
    while (!queue.isEmpty()) {
      next.release();
      next = next(queue); // No time has to pass for it.
    }
    Duration rest = Duration.ofNanos(System.nanoTime() - freed);

    assertThat(dead.isDone() && !dead.isCompletedExceptionally()).isFalse();
    if (harmfulStall().isZero()) {
      assertThat(rest).isLessThan(lease);
    }
  }

  /** Takes the hold of the first out of the queue; where the store keeps no order, of anyone. */
  private Hold next(List<CompletableFuture<Hold>> queue) {
    if (!gives(Guarantee.FAIR)) {
      await("anyone to be next", () -> queue.stream().anyMatch(CompletableFuture::isDone));
      queue.sort(Comparator.comparing(waiting -> !waiting.isDone()));
    }
    return get(queue.remove(0));
  }

  /** Waits for a while, gives up, and says whether it got the lock. */
  private boolean visit(Hold[] got) {
    CompletableFuture<Hold> visitor = c.lock(ledger, fixed()).acquireAsync(lease.dividedBy(3));
    elapseUntil("the visitor to be done", visitor::isDone);
    if (!visitor.isCompletedExceptionally()) {
      got[0] = visitor.join();
    }
    return got[0] != null;
  }

  @Test
  void longWait_isServedInTheEnd() {
    Hold first = a.take(ledger);
    CompletableFuture<Hold> waiting = b.lock(ledger).acquireAsync(ample);
    awaitContended(b, ledger, 1);

    elapse(lease.multipliedBy(3));
    assertThat(first.isValid()).isTrue();
    assertThat(waiting).isNotDone();
    first.release();

    Hold next = get(waiting);
    elapse(lease.multipliedBy(2));
    assertThat(next.isValid()).isTrue();
  }

  @Test
  void retry_asksAsOftenAsItIsTold_andThenTimesOut() {
    a.take(ledger);
    Duration pause = lease.dividedBy(10);
    LockOptions options = renewed().waiting(WaitStrategy.retry(3, pause, Duration.ZERO));
    CompletableFuture<Hold> asking = b.lock(ledger, options).acquireAsync(ample);

    elapse(pause.multipliedBy(5));

    assertThat(failure(asking)).isInstanceOf(LockTimeoutException.class);
    assertThat(b.store().asked(CLAIM)).isEqualTo(4);
  }

  @Test
  void retry_getsTheLockOnceItIsFree_andNeverQueues() {
    Hold hold = a.take(ledger);
    Duration pause = lease.dividedBy(10);
    LockOptions options = renewed().waiting(WaitStrategy.retry(50, pause, pause));
    CompletableFuture<Hold> asking = b.lock(ledger, options).acquireAsync(ample);
    elapse(pause.multipliedBy(3));
    assertThat(asking).isNotDone();
    assertThat(a.inspect(ledger).waiters()).isEmpty();

    hold.release();
    elapse(pause.multipliedBy(3));

    assertThat(get(asking).isValid()).isTrue();
  }

  @Test
  void retry_endsWithItsMaxWait() {
    a.take(ledger);
    Duration pause = lease.dividedBy(10);
    LockOptions options = renewed().waiting(WaitStrategy.retry(10_000, pause, Duration.ZERO));
    CompletableFuture<Hold> asking = b.lock(ledger, options).acquireAsync(lease.dividedBy(2));

    elapse(lease);

    assertThat(failure(asking)).isInstanceOf(LockTimeoutException.class);
  }

  @Test
  void spin_getsTheLockOnceItIsFree() {
    Hold hold = a.take(ledger);
    LockOptions options = renewed().waiting(WaitStrategy.spin());
    Blocked<Hold> spinning = acquiring(b.lock(ledger, options), ample);
    await("some spins", () -> spins(b) > 3);

    hold.release();
    await("the lock", () -> spins(b) > 0 && spinning.isDone());

    assertThat(spinning.result().isValid()).isTrue();
  }

  private int spins(Peer peer) {
    elapse(Duration.ofMillis(2));
    return peer.store().asked(CLAIM);
  }

  @Test
  void cancelledRetry_asksNoMore() {
    a.take(ledger);
    Duration pause = lease.dividedBy(10);
    LockOptions options = renewed().waiting(WaitStrategy.retry(1_000, pause, Duration.ZERO));
    CompletableFuture<Hold> asking = b.lock(ledger, options).acquireAsync(ample);
    elapse(pause.multipliedBy(2));

    asking.cancel(false);
    elapse(pause);
    int claims = b.store().asked(CLAIM);
    elapse(pause.multipliedBy(5));

    assertThat(b.store().asked(CLAIM)).isEqualTo(claims);
  }

  @Test
  void limitOfWaiters_isAnErrorOfItsOwn_andTakesNothing() {
    Peer d = peer("d", builder -> builder.limits(new Limits(2, 100, 100)));
    Hold hold = a.take(ledger);
    CompletableFuture<Hold> one = d.lock(ledger).acquireAsync(ample);
    CompletableFuture<Hold> two = d.lock(ledger).acquireAsync(ample);
    awaitContended(d, ledger, 1);

    Assertions.assertThatThrownBy(() -> acquire(d.lock(ledger), ample))
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            limit -> {
              assertThat(limit.limit()).isEqualTo("waitersPerName");
              assertThat(limit.allowed()).isEqualTo("2");
            });

    hold.release();
    get(one).release();
    get(two).release();
    awaitFree(a, ledger);
  }

  @Test
  void limitOfHolds_isAnErrorOfItsOwn_andEndsWithARelease() {
    Peer d = peer("d", builder -> builder.limits(new Limits(10, 2, 100)));
    Hold one = d.take(name("one"));
    d.take(name("two"));

    Assertions.assertThatThrownBy(() -> d.tryTake(name("three")))
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            limit -> {
              assertThat(limit.limit()).isEqualTo("holds");
              assertThat(limit.allowed()).isEqualTo("2");
            });
    assertThat(a.inspect(name("three")).isFree()).isTrue();
    one.release();
    assertThat(d.tryTake(name("three"))).isPresent();
  }
}
