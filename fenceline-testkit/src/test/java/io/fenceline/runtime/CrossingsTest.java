package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ModeConflictException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LockListener;
import io.fenceline.event.StoreFailed;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Things that happen at the same moment, which only a time that the test owns can arrange. */
class CrossingsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

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
          .isInstanceOf(ModeConflictException.class);
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
            .store(context -> silent(space.factory().open(context)))
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

  @MustBeClosed
  private Fenceline silentClient() {
    return Fenceline.builder()
        .store(context -> silent(space.factory().open(context)))
        .time(time)
        .connect();
  }

  /** A store that leaves claims to the test, counts withdrawals, and is otherwise as given. */
  private LockStore silent(LockStore store) {
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("claim")) {
                asked.set((ClaimHandler) arguments[1]);
                return null;
              }
              if (method.getName().equals("withdraw")) {
                withdrawals.incrementAndGet();
              }
              return method.invoke(store, arguments);
            });
  }
}
