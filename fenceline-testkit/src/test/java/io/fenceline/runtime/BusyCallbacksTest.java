package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Acquirable;
import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.memory.MemorySpace;
import io.fenceline.runtime.machine.SystemTime;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Release;
import io.fenceline.testkit.Eventually;
import io.fenceline.time.Lane;
import io.fenceline.time.Time;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * All threads for user code are taken by user code, and the store answers on threads of its own.
 */
class BusyCallbacksTest {
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final Duration AMPLE = Duration.ofMinutes(10);

  private final SystemTime system = new SystemTime();
  private final MemorySpace space = MemorySpace.create(system::wallMillis);
  private final ExecutorService network = Executors.newSingleThreadExecutor();
  private final ConcurrentLinkedQueue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
  private final Client client =
      (Client)
          Fenceline.builder()
              .store(StoreProxy.over(space.factory(), this::overTheNetwork))
              .time(new Busy(Lane.CALLBACK))
              .connect();

  /** As the machine's time, but what is to run on the threads for user code waits. */
  private final class Busy implements Time {
    private final Lane taken;

    Busy(Lane taken) {
      this.taken = taken;
    }

    @Override
    public long nanos() {
      return system.nanos();
    }

    @Override
    public long wallMillis() {
      return system.wallMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
      return system.schedule(delayNanos, task);
    }

    @Override
    public Executor lane(Lane lane) {
      return lane == taken ? callbacks::add : system.lane(lane);
    }

    @Override
    public void park(Object blocker, long maxNanos) {
      system.park(blocker, maxNanos);
    }

    @Override
    public void close() {}
  }

  private Object overTheNetwork(
      java.lang.reflect.Method method, Object[] arguments, StoreProxy.Store store)
      throws Throwable {
    if (method.getName().equals("claim")) {
      network.execute(() -> ask(store));
      return null;
    }
    if (method.getName().equals("release")) {
      CompletableFuture<Release> answer = new CompletableFuture<>();
      network.execute(() -> answer.complete((Release) ((CompletableFuture<?>) ask(store)).join()));
      return answer;
    }
    return store.ask();
  }

  private static Object ask(StoreProxy.Store store) {
    try {
      return store.ask();
    } catch (Throwable e) {
      throw new AssertionError(LockStore.class.getSimpleName(), e);
    }
  }

  private static <T> T inThread(Callable<T> call) throws Exception {
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "application");
    thread.setDaemon(true);
    thread.start();
    Eventually.until(BOUND, "the call", task::isDone);
    return task.get();
  }

  @AfterEach
  void close() {
    client.close();
    network.shutdown();
    system.close();
  }

  private void acquiresAndReleases(Acquirable<? extends Held> lock) throws Exception {
    assertThat(inThread(() -> acquire(lock).release())).isEqualTo(ReleaseOutcome.RELEASED);
    Optional<? extends Held> tried = inThread(lock::tryAcquire);
    assertThat(inThread(() -> tried.orElseThrow().release())).isEqualTo(ReleaseOutcome.RELEASED);
    inThread(
        () -> {
          lock.run(AMPLE, hold -> {});
          return true;
        });
    assertThat(client.holds()).isZero();
  }

  @SuppressWarnings("MustBeClosedChecker") // Released by the test.
  private static Held acquire(Acquirable<? extends Held> lock) throws InterruptedException {
    return lock.acquire(AMPLE);
  }

  @Test
  void blockingCalls_neverWaitForThem() throws Exception {
    acquiresAndReleases(client.lock("ledger"));
    acquiresAndReleases(client.readWriteLock("ledger").readLock());
    acquiresAndReleases(client.semaphore("permits", 3).several(2));
  }

  @Test
  void blockingCallsOfLockAll_neverWaitForThem() throws Exception {
    acquiresAndReleases(client.lockAll("a", "b", "c"));
  }

  @Test
  void blockingCallsThatAskAgain_neverWaitForThem() throws Exception {
    LockOptions retrying =
        LockOptions.defaults()
            .waiting(WaitStrategy.retry(1_000, Duration.ofMillis(1), Duration.ZERO));
    acquiresAndReleases(client.lock("ledger", retrying));
    acquiresAndReleases(client.lockAll(List.of("a", "b"), retrying));
    acquiresAndReleases(client.lock("ledger", LockOptions.defaults().waiting(WaitStrategy.spin())));
  }

  @Test
  void newsOfALoss_neverWaitForThem() {
    List<LockEvent> heard = new CopyOnWriteArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            heard.add(event);
          }
        };
    try (Fenceline listening =
        Fenceline.builder()
            .store(space.factory())
            .time(new Busy(Lane.CALLBACK))
            .listener(listener)
            .connect()) {
      LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofMillis(50));
      Hold hold = listening.lock("ledger", fixed).tryAcquire().orElseThrow();
      CompletableFuture<?> lost = hold.lost();

      Eventually.until(BOUND, "the future", lost::isDone);
      Eventually.until(
          BOUND, "the listener", () -> heard.stream().anyMatch(event -> event instanceof Lost));
    }
  }

  @Test
  void interruptsAndEvents_neverWaitForTheListenersOfOtherLosses() throws Exception {
    List<LockEvent> heard = new CopyOnWriteArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            heard.add(event);
          }
        };
    try (Fenceline listening =
        Fenceline.builder()
            .store(space.factory())
            .time(new Busy(Lane.LOSS))
            .listener(listener)
            .connect()) {
      LockOptions fixed =
          LockOptions.defaults().fixedLease(Duration.ofMillis(50)).interruptOnLoss();
      FutureTask<Boolean> waits =
          new FutureTask<>(
              () -> {
                Hold hold = listening.lock("ledger", fixed).tryAcquire().orElseThrow();
                new CountDownLatch(1).await();
                return hold.isValid();
              });
      Thread loser = new Thread(waits, "loser");
      loser.setDaemon(true);
      loser.start();

      Eventually.until(BOUND, "the interrupt", waits::isDone);
      assertThatThrownBy(waits::get).hasCauseInstanceOf(InterruptedException.class);
      Eventually.until(
          BOUND, "the listener", () -> heard.stream().anyMatch(event -> event instanceof Lost));
    }
  }

  @Test
  void blockingInspection_neverWaitsForThem() throws Exception {
    assertThat(inThread(() -> client.inspect("ledger")).isFree()).isTrue();
    assertThat(inThread(() -> client.list("", 10))).isEmpty();
  }
}
