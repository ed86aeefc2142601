package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Things that happen at the same moment, which only a time that the test owns can arrange. */
class CrossingsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final AtomicReference<ClaimHandler> asked = new AtomicReference<>();
  private final AtomicInteger withdrawals = new AtomicInteger();

  @MustBeClosed
  private Fenceline client() {
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  @Test
  void interruptThatMeetsTheGrant_keepsBoth() throws InterruptedException {
    // The grant comes between the look at the future and its cancelling.
    CompletableFuture<String> granted =
        new CompletableFuture<>() {
          @Override
          public boolean cancel(boolean mayInterrupt) {
            complete("the hold");
            return false;
          }
        };
    Thread.currentThread().interrupt();

    String hold = Futures.awaitInterruptibly(time, granted);

    assertThat(hold).isEqualTo("the hold");
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void holdOfAProcessThatPausedPastItsLease_isInvalidBeforeAnythingElseRuns() {
    try (Fenceline fenceline = client()) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<?> lost = hold.lost();

      time.pause(LEASE); // No timer has run yet.

      assertThat(hold.isValid()).isFalse();
      assertThat(lost).isDone();
    }
  }

  @Test
  void machineThatWasSuspended_endsTheLeaseByItsWallClock() {
    try (Fenceline fenceline = client()) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();

      time.jumpWall(LEASE);

      assertThat(hold.isValid()).isFalse();
    }
  }

  @Test
  void wallClockThatIsSetBack_doesNotProlongAHold() {
    LockOptions fixed = LockOptions.defaults().fixedLease(LEASE);
    try (Fenceline fenceline = client()) {
      Hold hold = fenceline.lock("ledger", fixed).tryAcquire().orElseThrow();

      time.jumpWall(Duration.ofHours(-1));
      time.advance(LEASE);

      assertThat(hold.isValid()).isFalse();
    }
  }

  @Test
  void grantToAWaiter_thatAFailingRequestBrought_isToldAtOnce_andNotBelievedForLonger() {
    LockOptions fixed = LockOptions.defaults().fixedLease(LEASE);
    try (Fenceline a = client();
        Fenceline b = client();
        Fenceline c = client()) {
      assertThat(a.lock("ledger", fixed).tryAcquire()).isPresent();
      CompletableFuture<Hold> waiting = b.lock("ledger", fixed).acquireAsync(LEASE.multipliedBy(9));
      time.pause(LEASE.plusSeconds(1));

      // Looking at the clock, the server grants the lock to b, and only then refuses c.
      assertThatThrownBy(() -> c.semaphore("ledger", 2).tryAcquire())
          .isInstanceOf(StoreRefusedException.class);
      time.pause(Duration.ofSeconds(5));
      time.advance(Duration.ZERO);

      Duration believed = waiting.join().remaining();
      Duration left = b.inspect("ledger").holders().get(0).remaining();
      assertThat(left).isEqualTo(LEASE.minusSeconds(5));
      assertThat(believed).isLessThanOrEqualTo(left);
    }
  }

  @Test
  void tryWhoseTimeIsOverWhileItsClaimFails_saysThatTheStoreGaveNoAnswer() {
    LockListener endOfTime =
        new LockListener() {
          @Override
          public void onStoreFailed(StoreFailed event) {
            time.advance(Duration.ofSeconds(1)); // The claim is gone, the caller not yet told.
          }
        };
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(StoreProxy.over(space.factory(), this::leaveClaims))
            .operationTimeout(Duration.ofMillis(500))
            .listener(endOfTime)
            .time(time)
            .connect()) {
      CompletableFuture<?> tried = fenceline.lock("ledger").tryAcquireAsync();

      asked.get().failed(new StoreUnavailableException("memory:", "No answer", null));

      assertThatThrownBy(tried::join).hasCauseInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void claimThatFailsAfterItWasDropped_isUndoneOnceMore() {
    // It was sent again just before, overtook the undo, and what became of it is not known.
    try (Fenceline fenceline = silentClient()) {
      CompletableFuture<Hold> waiting =
          fenceline.lock("ledger").acquireAsync(Duration.ofSeconds(1));
      time.advance(Duration.ofSeconds(1));
      assertThat(waiting).isCompletedExceptionally();
      assertThat(withdrawals).hasValue(1);

      asked.get().failed(new StoreUnavailableException("memory:", "No answer", null));
      time.advance(Duration.ZERO);

      assertThat(withdrawals).hasValue(2);
    }
  }

  @Test
  void claimThatFailsAfterItWasGranted_isNotUndone() {
    // It was sent twice, and this is about the other one.
    try (Fenceline fenceline = silentClient()) {
      CompletableFuture<Hold> waiting = fenceline.lock("ledger").acquireAsync(LEASE);
      asked.get().granted(new Grant(7, new Validity(time.now(), LEASE)));

      asked.get().failed(new StoreUnavailableException("memory:", "No answer", null));
      time.advance(Duration.ZERO);

      assertThat(waiting.join().isValid()).isTrue();
      assertThat(withdrawals).hasValue(0);
    }
  }

  @Test
  void grantThatIsGoneBeforeItIsToldOf_isClaimedForAnew() {
    try (Fenceline fenceline = silentClient()) {
      CompletableFuture<Hold> waiting = fenceline.lock("ledger").acquireAsync(LEASE);
      ClaimHandler first = asked.get();

      first.gone(); // Its session ended, on another thread, which was faster.
      first.granted(new Grant(7, new Validity(time.now(), LEASE)));

      assertThat(waiting).as("a hold that is gone").isNotDone();
      assertThat(withdrawals).hasValue(1);
      assertThat(asked.get()).as("the claim").isNotSameAs(first);
      asked.get().granted(new Grant(8, new Validity(time.now(), LEASE)));
      assertThat(waiting.join().isValid()).isTrue();
    }
  }

  @Test
  void interruptThatTakesItsTime_keepsNobodyFromTheHold() throws Exception {
    CountDownLatch interrupting = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    AtomicReference<Hold> held = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    LockOptions options = LockOptions.defaults().fixedLease(LEASE).interruptOnLoss();
    try (Fenceline fenceline = client()) {
      Thread holder =
          new Thread("holder") {
            @Override
            public void run() {
              held.set(fenceline.lock("ledger", options).tryAcquire().orElseThrow());
              try {
                done.await();
              } catch (InterruptedException e) {
                held.get().release();
              }
            }

            @Override
            public void interrupt() { // As that of a thread in a channel, which is closed by it.
              interrupting.countDown();
              awaitLatch(interrupted);
              super.interrupt();
            }
          };
      holder.start();
      Eventually.until(BOUND, "the hold", () -> held.get() != null);
      Thread timers = new Thread(() -> time.advance(LEASE), "timers");
      timers.start();
      assertThat(interrupting.await(30, TimeUnit.SECONDS)).isTrue();

      FutureTask<Boolean> entered =
          new FutureTask<>(
              () -> {
                try (Hold again = held.get().reenter()) {
                  return again.isValid();
                } catch (LockLostException e) {
                  return false;
                }
              });
      new Thread(entered, "other").start();
      try {
        Eventually.until(BOUND, "the other's call", entered::isDone);
      } finally {
        interrupted.countDown();
      }
      assertThat(entered.get()).isFalse();
      holder.join(BOUND.toMillis());
      timers.join(BOUND.toMillis());
      assertThat(holder.isAlive() || timers.isAlive()).isFalse();
    }
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void extensionWhoseAnswerComesAfterTheLoss_keepsTheNameClosedForTheDelayOnly() {
    LockOptions delayed = LockOptions.defaults().fixedLease(LEASE).lockDelay(Duration.ofSeconds(5));
    try (Fenceline fenceline = lateClient();
        Fenceline other = client()) {
      Hold hold = fenceline.lock("ledger", delayed).tryAcquire().orElseThrow();
      CompletableFuture<Void> extended = hold.extendAsync(LEASE.multipliedBy(100));
      time.advance(LEASE);
      assertThat(hold.isValid()).isFalse();

      late.get().run();
      time.advance(Duration.ofSeconds(1));
      assertThat(other.lock("ledger").tryAcquire()).as("within the delay").isEmpty();
      time.advance(Duration.ofSeconds(5));

      assertThat(extended).isCompletedExceptionally();
      assertThat(other.lock("ledger").tryAcquire()).isPresent();
    }
  }

  @Test
  void extensionThatIsNotAnswered_keepsTheNameClosedForTheDelayOnly() {
    LockOptions delayed = LockOptions.defaults().fixedLease(LEASE).lockDelay(Duration.ofSeconds(5));
    try (Fenceline fenceline = lateClient();
        Fenceline other = client()) {
      Hold hold = fenceline.lock("ledger", delayed).tryAcquire().orElseThrow();
      CompletableFuture<Void> extended = hold.extendAsync(LEASE.multipliedBy(100));
      time.advance(LEASE.minusSeconds(2));
      assertThat(extended).isCompletedExceptionally(); // Not answered, and still held.
      assertThat(hold.isValid()).isTrue();
      time.advance(Duration.ofSeconds(3));
      assertThat(other.lock("ledger").tryAcquire()).as("within the delay").isEmpty();

      time.advance(Duration.ofSeconds(6));

      assertThat(other.lock("ledger").tryAcquire()).isPresent();
    }
  }

  private final AtomicReference<Runnable> late = new AtomicReference<>();

  /** A client whose renewals are done, and answered when the test says so. */
  @MustBeClosed
  private Fenceline lateClient() {
    return Fenceline.builder()
        .store(
            StoreProxy.over(
                space.factory(),
                (method, arguments, store) -> {
                  Object answer = store.ask();
                  if (!method.getName().equals("renew")) {
                    return answer;
                  }
                  CompletableFuture<Object> given = new CompletableFuture<>();
                  Object renewal = ((CompletableFuture<?>) ((List<?>) answer).get(0)).join();
                  late.set(() -> given.complete(renewal));
                  return List.of(given);
                }))
        .time(time)
        .connect();
  }

  @Test
  void lookOfAThreadThatOwnsNothing_leavesNothingWithTheThread() throws Exception {
    try (Fenceline fenceline = client()) {
      Hold inTheWay = fenceline.lock("ledger").tryAcquire().orElseThrow();
      java.util.concurrent.locks.Lock lock = fenceline.lock("ledger").asReentrantLock();

      assertThat(lock.tryLock()).isFalse();

      var owners = Client.class.getDeclaredField("owners");
      owners.setAccessible(true);
      var owned = ThreadOwners.class.getDeclaredField("owned");
      owned.setAccessible(true);
      assertThat(((ThreadLocal<?>) owned.get(owners.get(fenceline))).get()).isNull();
      inTheWay.release();
    }
  }

  @MustBeClosed
  private Fenceline silentClient() {
    return Fenceline.builder()
        .store(StoreProxy.over(space.factory(), this::leaveClaims))
        .time(time)
        .connect();
  }

  /** A store that leaves claims to the test, counts withdrawals, and is otherwise as given. */
  private @Nullable Object leaveClaims(Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    if (method.getName().equals("claim")) {
      asked.set((ClaimHandler) arguments[1]);
      return null;
    }
    if (method.getName().equals("withdraw")) {
      withdrawals.incrementAndGet();
    }
    return store.ask();
  }
}
