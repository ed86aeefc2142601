package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Validity;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that throws an Error: a driver that was not found, a stack that was too deep. */
class ThrownErrorsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration A_MINUTE = Duration.ofMinutes(1);

  /** What the store throws. */
  private static final class Deep extends Error {
    private static final long serialVersionUID = 1L;

    Deep() {
      super("deep in the driver");
    }
  }

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final Fenceline other = connect(false);
  private final Client client = (Client) connect(true);
  private String throwing = "";
  private String name = "ledger";
  private boolean afterwards;
  private int thrown;

  @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
  private Fenceline connect(boolean throwing) {
    return Fenceline.builder()
        .store(throwing ? StoreProxy.over(space.factory(), this::call) : space.factory())
        .time(time)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  private Object call(java.lang.reflect.Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    boolean ours =
        method.getName().equals(throwing)
            && (!(arguments[0] instanceof ClaimRequest claim) || claim.name().equals(name));
    if (!ours) {
      return store.ask();
    }
    throwing = "";
    thrown++;
    if (afterwards) {
      if (arguments.length == 2) {
        arguments[1] = new Deaf();
      }
      store.ask();
    }
    throw new Deep();
  }

  /** The claim was made, and its answer is not heard. */
  private static final class Deaf implements ClaimHandler {
    @Override
    public void granted(io.fenceline.spi.Grant grant) {}

    @Override
    public void waiting(io.fenceline.spi.Obstacle obstacle) {}

    @Override
    public void refused(io.fenceline.spi.Obstacle obstacle) {}

    @Override
    public void failed(RuntimeException cause) {}
  }

  private void throwOnce(String method) {
    throwing = method;
  }

  private void nothingIsLeft() {
    assertThat(thrown).isPositive();
    time.advance(Duration.ofSeconds(1));
    assertThat(client.names()).as("names").isZero();
    assertThat(client.holds()).as("holds").isZero();
    assertThat(client.clientGrants()).as("grants").isZero();
    assertThat(client.undos()).as("undos").isZero();
    assertThat(space.size()).as("names of the store").isZero();
  }

  @AfterEach
  void close() {
    client.close();
    other.close();
  }

  @Test
  void errorWhileAClientIsConnected_closesItsStore_whateverThatThrows() {
    List<String> called = new ArrayList<>();
    FencelineBuilder broken =
        Fenceline.builder()
            .store(
                StoreProxy.over(
                    space.factory(),
                    (method, arguments, store) -> {
                      called.add(method.getName());
                      if (method.getName().equals("close")) {
                        throw new IllegalStateException("closed badly");
                      }
                      throw new Deep();
                    }));

    assertThatThrownBy(() -> broken.connect().close())
        .isInstanceOf(Deep.class)
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));

    assertThat(called).containsExactly("guarantees", "close");
  }

  @Test
  void errorOfAClaim_reachesTheCaller_andTheNameIsFree() {
    throwOnce("claim");

    assertThatThrownBy(() -> client.lock("ledger").acquire(A_MINUTE)).isInstanceOf(Deep.class);

    nothingIsLeft();
    client.lock("ledger").tryAcquire().orElseThrow().release();
  }

  @Test
  void errorOfATry_reachesTheCaller_andTheNameIsFree() {
    throwOnce("claim");

    assertThatThrownBy(() -> client.lock("ledger").tryAcquire()).isInstanceOf(Deep.class);

    nothingIsLeft();
  }

  @Test
  void errorAfterTheClaimWasGranted_isUndone() {
    throwOnce("claim");
    afterwards = true;

    assertThatThrownBy(() -> client.lock("ledger").tryAcquire()).isInstanceOf(Deep.class);

    nothingIsLeft();
  }

  @Test
  void runtimeExceptionAfterTheClaimWasGranted_isUndone() {
    // It was thrown, not reported: nobody says that nothing was taken.
    Client careless =
        (Client)
            connect(
                (method, arguments, store) -> {
                  if (!method.getName().equals("claim")) {
                    return store.ask();
                  }
                  thrown++;
                  arguments[1] = new Deaf();
                  store.ask();
                  throw new IllegalStateException("a mistake in the store");
                });
    try (careless) {
      assertThatThrownBy(() -> careless.lock("ledger").tryAcquire())
          .isInstanceOf(IllegalStateException.class);

      nothingIsLeft();
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed by the test.
  private Fenceline connect(StoreProxy.Front front) {
    return Fenceline.builder()
        .store(StoreProxy.over(space.factory(), front))
        .time(time)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  @Test
  void errorOfAnAsynchronousClaim_failsTheFuture() {
    throwOnce("claim");

    CompletableFuture<Hold> asked = client.lock("ledger").acquireAsync(A_MINUTE);

    assertThatThrownBy(asked::join).hasCauseInstanceOf(Deep.class);
    nothingIsLeft();
  }

  @Test
  void errorOfAReadersClaim_leavesNothing() {
    throwOnce("claim");

    assertThatThrownBy(() -> client.readWriteLock("ledger").readLock().tryAcquire())
        .isInstanceOf(Deep.class);

    nothingIsLeft();
  }

  @Test
  void errorOfTheNextClaim_isNotThrownIntoTheRelease_andTheOneAfterItIsServed() {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    LockOptions others = LockOptions.defaults().fixedLease(LEASE);
    CompletableFuture<Hold> second = client.lock("ledger", others).acquireAsync(A_MINUTE);
    CompletableFuture<Hold> third = client.lock("ledger", others).acquireAsync(A_MINUTE);
    throwOnce("claim");

    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);

    assertThatThrownBy(second::join).hasCauseInstanceOf(Deep.class);
    assertThat(third.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    nothingIsLeft();
  }

  @Test
  void errorWithinLockAll_failsIt_andGivesTheOthersBack() {
    Hold inTheWay = other.lock("b").tryAcquire().orElseThrow();
    CompletableFuture<MultiHold> all = client.lockAll("a", "b", "c").acquireAsync(A_MINUTE);
    throwOnce("claim");
    name = "c";

    inTheWay.release();

    assertThatThrownBy(all::join).hasCauseInstanceOf(Deep.class);
    nothingIsLeft();
  }

  @Test
  void errorWithinABlockingLockAll_givesTheOthersBack() {
    throwOnce("claim");
    name = "c";

    assertThatThrownBy(() -> client.lockAll("a", "b", "c").acquire(A_MINUTE))
        .isInstanceOf(Deep.class);

    nothingIsLeft();
  }

  @Test
  void errorOfARelease_isAnUnknownOutcome_forEveryCall_andIsRepeated() {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<Hold> next =
        client.lock("ledger", LockOptions.defaults().fixedLease(LEASE)).acquireAsync(A_MINUTE);
    throwOnce("release");

    assertThat(hold.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
    assertThat(hold.releaseAsync()).isCompletedWithValue(ReleaseOutcome.UNKNOWN);

    time.advance(Duration.ofSeconds(1));
    assertThat(next.join().release()).isEqualTo(ReleaseOutcome.RELEASED);
    nothingIsLeft();
  }

  @Test
  void errorOfAWithdrawal_isRepeated() {
    Hold inTheWay = other.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<Hold> asked = client.lock("ledger").acquireAsync(A_MINUTE);
    throwOnce("withdraw");

    asked.cancel(false);

    time.advance(Duration.ofSeconds(1));
    assertThat(other.inspect("ledger").waiters()).isEmpty();
    inTheWay.release();
    nothingIsLeft();
  }

  @Test
  void errorWhileAGrantIsTaken_reachesTheCaller_andNothingIsKept() {
    ClaimHandler[] handler = new ClaimHandler[1];
    FaultyTime faulty = new FaultyTime(time);
    Client silent =
        (Client)
            Fenceline.builder()
                .store(
                    StoreProxy.over(
                        space.factory(),
                        (method, arguments, store) -> {
                          if (method.getName().equals("claim")) {
                            handler[0] = (ClaimHandler) arguments[1];
                            return null;
                          }
                          return store.ask();
                        }))
                .time(faulty)
                .connect();
    try (silent) {
      CompletableFuture<Hold> asked = silent.lock("ledger").acquireAsync(A_MINUTE);
      ClaimHandler first = handler[0];
      faulty.failSchedule(1);

      // On a thread of the store, which has no idea what to do with it.
      assertThatCode(() -> first.granted(new Grant(7, new Validity(time.now(), LEASE))))
          .doesNotThrowAnyException();

      assertThat(silent.clientGrants()).as("grants that are kept").isZero();
      assertThatThrownBy(asked::join).hasCauseInstanceOf(Deep.class);
      time.advance(Duration.ofSeconds(1));
      assertThat(silent.names() + silent.holds() + silent.undos()).isZero();

      CompletableFuture<Hold> next = silent.lock("ledger").acquireAsync(A_MINUTE);
      handler[0].granted(new Grant(8, new Validity(time.now(), LEASE)));
      CompletableFuture<Lost> lost = next.join().lost();
      time.advance(LEASE.multipliedBy(2));
      assertThat(lost).as("the loss, by a timer that was set after all").isDone();
    }
  }

  @Test
  void newsThatCanNotBeTold_keepNoName() {
    FaultyTime faulty = new FaultyTime(time);
    LockListener listener =
        new LockListener() {
          @Override
          public void on(io.fenceline.event.LockEvent event) {}
        };
    Client told =
        (Client)
            Fenceline.builder()
                .store(space.factory())
                .time(faulty)
                .listener(listener)
                .defaultOptions(LockOptions.defaults().lease(LEASE))
                .connect();
    Hold hold = told.lock("ledger").tryAcquire().orElseThrow();
    CompletableFuture<Hold> next =
        told.lock("ledger", LockOptions.defaults().fixedLease(LEASE)).acquireAsync(A_MINUTE);
    faulty.failLanes(Lane.LOSS, Lane.EVENT);
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(next).as("the next one").isCompleted();
    next.join().onLost(lost -> {});
    CompletableFuture<Hold> last = told.lock("ledger").acquireAsync(A_MINUTE);

    assertThatThrownBy(() -> time.advance(LEASE)).isInstanceOf(Deep.class);

    assertThat(last).as("the one after a loss").isCompleted();
    last.join().onLost(lost -> {});
    assertThatThrownBy(told::close).isInstanceOf(Deep.class);
    assertThat(other.lock("ledger").tryAcquire()).as("what a closed client had").isPresent();
  }

  /** Manual time without memory: timers can't be set, threads can't be started. */
  private static final class FaultyTime implements Time {
    private final ManualTime time;
    private int schedules;
    private List<Lane> lanes = List.of();

    FaultyTime(ManualTime time) {
      this.time = time;
    }

    void failSchedule(int times) {
      schedules = times;
    }

    void failLanes(Lane... failing) {
      lanes = List.of(failing);
    }

    @Override
    public long nanos() {
      return time.nanos();
    }

    @Override
    public long wallMillis() {
      return time.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      if (schedules > 0) {
        schedules--;
        throw new Deep(); // As a lack of memory, by which JUnit itself would end.
      }
      return time.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      Executor executor = time.lane(lane);
      return task -> {
        if (lanes.contains(lane)) {
          throw new Deep(); // As a lack of memory, by which JUnit itself would end.
        }
        executor.execute(task);
      };
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      time.park(blocker, maxNanos);
    }

    @Override
    public void close() {}
  }

  @Test
  void errorOfARenewal_endangersTheHold_andIsMadeUpFor() {
    Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
    throwOnce("renew");

    time.advance(LEASE.multipliedBy(3));

    assertThat(thrown).isOne();
    assertThat(hold.isValid()).isTrue();
    hold.release();
    nothingIsLeft();
  }

  @Test
  void errorOfAnExtension_failsItsFuture() {
    Hold hold =
        client.lock("ledger", LockOptions.defaults().fixedLease(LEASE)).tryAcquire().orElseThrow();
    throwOnce("renew");

    CompletableFuture<Void> extended = hold.extendAsync(LEASE);

    assertThatThrownBy(extended::join).hasCauseInstanceOf(Deep.class);
    List.of(hold).forEach(Hold::release);
    nothingIsLeft();
  }
}
