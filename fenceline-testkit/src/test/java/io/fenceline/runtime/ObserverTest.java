package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LimitExceededException;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.Leaked;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.memory.MemorySpace;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldFacts;
import io.fenceline.metrics.HoldOutcome;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.RenewOutcome;
import io.fenceline.metrics.RequestOutcome;
import io.fenceline.metrics.StoreOperation;
import io.fenceline.settings.Limits;
import io.fenceline.settings.WaitStrategy;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What happens is told to observers once, in order, and whatever they throw changes nothing. */
class ObserverTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<String> told = Collections.synchronizedList(new ArrayList<>());

  /** Writes down what it is told; requests only if they failed, for they come with each cycle. */
  private class Notes implements LockObserver {
    @Override
    public Object acquireStarted(String name) {
      told.add("started " + name);
      return name;
    }

    @Override
    public void waiting(Object context) {
      told.add("waiting " + context);
    }

    @Override
    public void contended(Object context) {
      told.add("contended " + context);
    }

    @Override
    public void acquired(Object context, AcquireOutcome outcome, HoldFacts hold, long nanos) {
      told.add(outcome.tag() + " " + hold.name() + " " + seconds(nanos));
    }

    @Override
    public void notAcquired(Object context, AcquireOutcome outcome, long nanos, Throwable cause) {
      told.add(outcome.tag() + " " + context + " " + seconds(nanos));
    }

    @Override
    public void leaked(Object context, Leaked event) {
      told.add("leak " + context);
    }

    @Override
    public void lost(Object context, Lost event) {
      told.add("loss " + context + " " + event.reason());
    }

    @Override
    public void holdEnded(Object context, HoldOutcome outcome, long nanos) {
      told.add(outcome.tag() + " " + context + " " + seconds(nanos));
    }

    @Override
    public void renewal(String name, RenewOutcome outcome, long nanos, double leaseLeft) {
      told.add("renewal " + outcome.tag() + " " + Math.round(leaseLeft * 100) + "%");
    }

    @Override
    public void storeRequest(
        String name, StoreOperation operation, RequestOutcome outcome, long nanos) {
      if (outcome != RequestOutcome.ANSWERED) {
        told.add(operation.tag() + " " + outcome.tag() + " " + seconds(nanos));
      }
    }

    @Override
    public void undoStarted(String name) {
      told.add("undo " + name);
    }

    @Override
    public void undoEnded(String name) {
      told.add("undone " + name);
    }

    @Override
    public void closed() {
      told.add("closed");
    }

    private String seconds(long nanos) {
      return Duration.ofNanos(nanos).toSeconds() + "s";
    }
  }

  private FencelineBuilder builder() {
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .observer(kind -> new Notes())
        .defaultOptions(LockOptions.defaults().lease(LEASE));
  }

  @MustBeClosed
  private Fenceline client() {
    return builder().connect();
  }

  @MustBeClosed
  private Fenceline other() {
    return Fenceline.builder().store(space.factory()).time(time).connect();
  }

  @Test
  void grantedAndReleased_withTheTimesByTheClientsClock() {
    try (Fenceline fenceline = client()) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      time.advance(Duration.ofSeconds(5));
      hold.release();
      hold.release();
    }

    assertThat(told)
        .containsExactly("started ledger", "granted ledger 0s", "released ledger 5s", "closed");
  }

  @Test
  void handedOff_isContendedOnce_andTheWaitCounts() {
    try (Fenceline fenceline = client()) {
      Hold first = fenceline.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> next = fenceline.lock("ledger").acquireAsync(LEASE);
      first.release();
      next.join().release();

      assertThat(told.subList(2, told.size()))
          .containsExactly(
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "released ledger 0s",
              "handed_off ledger 0s",
              "released ledger 0s");
    }
  }

  @Test
  void waitAtTheStore_refusal_timeoutAndCancel() {
    try (Fenceline fenceline = client();
        Fenceline other = other()) {
      Hold held = other.lock("ledger").tryAcquire().orElseThrow();

      assertThat(fenceline.lock("ledger").tryAcquire()).isEmpty();
      CompletableFuture<Hold> late = fenceline.lock("ledger").acquireAsync(Duration.ofSeconds(2));
      time.advance(Duration.ofSeconds(2));
      assertThat(late).isCompletedExceptionally();
      CompletableFuture<Hold> cancelled = fenceline.lock("ledger").acquireAsync(LEASE);
      time.advance(Duration.ofSeconds(1));
      cancelled.cancel(false);
      held.release();

      assertThat(told)
          .containsExactly(
              "started ledger",
              "refused ledger 0s",
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "timed_out ledger 2s",
              "undo ledger",
              "undone ledger",
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "interrupted ledger 1s",
              "undo ledger",
              "undone ledger");
    }
  }

  @Test
  void askingAgain_isOneAcquire_howeverOftenItIsRefused() {
    LockOptions asking =
        LockOptions.defaults()
            .lease(LEASE)
            .waiting(WaitStrategy.retry(10, Duration.ofSeconds(1), Duration.ZERO));
    try (Fenceline fenceline = client();
        Fenceline other = other()) {
      Hold held = other.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> granted = fenceline.lock("ledger", asking).acquireAsync(LEASE);
      time.advance(Duration.ofSeconds(3));
      held.release();
      time.advance(Duration.ofSeconds(1));
      granted.join().release();
      Hold again = other.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> inVain =
          fenceline.lock("ledger", asking).acquireAsync(Duration.ofSeconds(3));
      time.advance(Duration.ofSeconds(3));
      assertThat(inVain).isCompletedExceptionally();
      again.release();

      assertThat(told)
          .containsExactly(
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "granted ledger 4s",
              "released ledger 0s",
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "timed_out ledger 2s");
    }
  }

  @Test
  void interruptedCaller_isToldOnce() throws Exception {
    try (Fenceline fenceline = client();
        Fenceline other = other()) {
      Hold held = other.lock("ledger").tryAcquire().orElseThrow();
      CountDownLatch interrupted = new CountDownLatch(1);
      Thread waiting =
          new Thread(
              () -> {
                try (Hold hold = fenceline.lock("ledger").acquire(LEASE)) {
                  told.add("held " + hold.name());
                } catch (InterruptedException e) {
                  interrupted.countDown();
                }
              });
      waiting.start();
      time.awaitParked(1);
      waiting.interrupt();
      interrupted.await();
      Eventually.until(BOUND, "the undo", () -> told.contains("undone ledger"));
      held.release();

      assertThat(told)
          .containsExactly(
              "started ledger",
              "contended ledger",
              "waiting ledger",
              "interrupted ledger 0s",
              "undo ledger",
              "undone ledger");
    }
  }

  @Test
  void renewals_tellHowMuchOfTheLeaseWasLeft_andALossEndsTheHold() {
    try (Fenceline fenceline = client();
        Fenceline other = other()) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      time.advance(Duration.ofSeconds(15));
      other.forceRelease("ledger", hold.token());
      time.advance(Duration.ofSeconds(10));
      hold.release();

      assertThat(told)
          .containsExactly(
              "started ledger",
              "granted ledger 0s",
              "renewal renewed 66%",
              "renewal gone 0%",
              "loss ledger GONE",
              "lost ledger 20s");
    }
  }

  @Test
  void leakedHold_endsAsLeaked() {
    try (Fenceline fenceline = client()) {
      LockOptions brief = LockOptions.defaults().lease(LEASE).maxHold(Duration.ofSeconds(5));
      Hold hold = fenceline.lock("ledger", brief).tryAcquire().orElseThrow();
      time.advance(LEASE.multipliedBy(2));

      assertThat(hold.isValid()).isFalse();
      assertThat(told)
          .startsWith(
              "started ledger",
              "granted ledger 0s",
              "leak ledger",
              "loss ledger EXPIRED",
              "leaked ledger 29s");
    }
  }

  @Test
  void silentStore_isAFailureOfTheRequest_andOfTheAcquire() {
    boolean[] silent = {true};
    try (Fenceline fenceline =
        builder()
            .store(
                StoreProxy.over(
                    space.factory(),
                    (method, arguments, store) -> {
                      if (silent[0] && method.getName().equals("claim")) {
                        return null;
                      }
                      return store.ask();
                    }))
            .connect()) {
      CompletableFuture<Hold> asked = fenceline.lock("ledger").acquireAsync(Duration.ofSeconds(2));
      time.advance(Duration.ofSeconds(2));
      assertThatThrownBy(asked::join).hasCauseInstanceOf(StoreUnavailableException.class);
      silent[0] = false;

      assertThat(told)
          .contains("claim unavailable 2s", "failed ledger 2s", "undo ledger", "undone ledger")
          .doesNotContain("timed_out ledger 2s");
    }
  }

  @Test
  void errorOfTheStore_isTold() {
    try (Fenceline fenceline =
        builder()
            .store(
                StoreProxy.over(
                    space.factory(),
                    (method, arguments, store) -> {
                      if (method.getName().equals("claim")) {
                        ((ClaimHandler) arguments[1]).failed(new IllegalStateException("no"));
                        return null;
                      }
                      return store.ask();
                    }))
            .connect()) {
      assertThatThrownBy(() -> fenceline.lock("ledger").tryAcquire()).hasMessage("no");

      assertThat(told).containsExactly("started ledger", "claim failed 0s", "failed ledger 0s");
    }
  }

  @Test
  void limit_isAFailure() {
    try (Fenceline fenceline = builder().limits(new Limits(10, 1, 10)).connect()) {
      Hold hold = fenceline.lock("one").tryAcquire().orElseThrow();
      assertThatThrownBy(() -> fenceline.lock("two").tryAcquire())
          .isInstanceOf(LimitExceededException.class);
      hold.release();

      assertThat(told).contains("started two", "failed two 0s");
    }
  }

  @Test
  void observerThatIsAddedLater_hearsWhatBeginsFromThenOn_andOthersHearItToo() {
    List<String> second = new ArrayList<>();
    try (Fenceline fenceline = client()) {
      Hold before = fenceline.lock("before").tryAcquire().orElseThrow();
      fenceline.observe(
          kind -> {
            second.add(kind);
            return new LockObserver() {
              @Override
              public void holdEnded(Object context, HoldOutcome outcome, long heldNanos) {
                second.add(outcome.tag());
              }
            };
          });
      Hold after = fenceline.lock("after").tryAcquire().orElseThrow();
      before.release();
      after.release();
    }

    assertThat(second).containsExactly("memory", "released");
    assertThat(told).contains("released before 0s", "released after 0s");
  }

  @Test
  void observerThatThrows_changesNothing() {
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(space.factory())
            .time(time)
            .observer(
                kind ->
                    new LockObserver() {
                      @Override
                      public Object acquireStarted(String name) {
                        throw new IllegalStateException("a mistake of the observer");
                      }

                      @Override
                      public void holdEnded(Object context, HoldOutcome outcome, long heldNanos) {
                        throw new StackOverflowError("another one");
                      }
                    })
            .connect()) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      assertThat(hold.release()).isEqualTo(io.fenceline.ReleaseOutcome.RELEASED);
      assertThatThrownBy(
              () -> {
                try (Hold again = fenceline.lock("ledger").tryAcquire().orElseThrow();
                    Hold unused = fenceline.lock("ledger").acquire(Duration.ZERO)) {
                  told.add(again.name() + unused.name());
                }
              })
          .isInstanceOf(LockTimeoutException.class);
      assertThat(fenceline.inspect("ledger").isFree()).isTrue();
    }
  }

  @Test
  void eventsThatAListenerMisses_areCountedExactly() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    List<LockEvent> dropped = Collections.synchronizedList(new ArrayList<>());
    List<LockEvent> heard = Collections.synchronizedList(new ArrayList<>());
    // On real threads: the listener stands still while others go on.
    try (Fenceline fenceline =
        Fenceline.builder()
            .store("memory:observer-dropped")
            .listener(
                new LockListener() {
                  @Override
                  public void on(LockEvent event) {
                    try {
                      slow.await();
                    } catch (InterruptedException e) {
                      throw new AssertionError(e);
                    }
                    heard.add(event);
                  }
                })
            .observer(
                kind ->
                    new LockObserver() {
                      @Override
                      public void eventDropped(LockEvent event) {
                        dropped.add(event);
                      }
                    })
            .connect()) {
      int cycles = LockListener.BACKLOG;
      for (int i = 0; i < cycles; i++) {
        fenceline.lock("ledger").tryAcquire().orElseThrow().release();
      }
      slow.countDown();
      Eventually.until(BOUND, "all events", () -> heard.size() + dropped.size() == 2 * cycles);
      assertThat(dropped.size()).isBetween(cycles - 1, cycles);
    }
  }

  @Test
  void storeKind_hasNoAddress() {
    assertThat(Observers.kindOf("redis://cache:6379/0")).isEqualTo("redis");
    assertThat(Observers.kindOf("rediss://cache:6379/0")).isEqualTo("redis");
    assertThat(Observers.kindOf("valkeys://cache:6379/0")).isEqualTo("valkey");
    assertThat(Observers.kindOf("jdbc:postgresql://db/locks")).isEqualTo("postgresql");
    assertThat(Observers.kindOf("sqlite:/var/lib/locks.db")).isEqualTo("sqlite");
    assertThat(Observers.kindOf("My Store at 10.0.0.1")).isEqualTo("other");
  }
}
