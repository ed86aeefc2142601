package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.Acquired;
import io.fenceline.event.Contended;
import io.fenceline.event.HandedOff;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.event.Refused;
import io.fenceline.event.Released;
import io.fenceline.event.Renewed;
import io.fenceline.event.TimedOut;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Events come in order, with their figures, and nobody can delay anything by listening. */
class EventsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  private static LockListener into(List<LockEvent> list) {
    return new LockListener() {
      @Override
      public void on(LockEvent event) {
        list.add(event);
      }
    };
  }

  @MustBeClosed
  private Fenceline client(String label) {
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .label(label)
        .listener(into(events))
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }

  @Test
  void releaseIsTold_beforeTheNextOneIsToldToHaveIt() {
    try (Fenceline fenceline = client("client")) {
      Hold first = fenceline.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> next = fenceline.lock("ledger").acquireAsync(LEASE);

      first.release();
      next.join().release();

      assertThat(events)
          .extracting(event -> (Object) event.getClass())
          .containsExactly(
              Acquired.class, Contended.class, Released.class, HandedOff.class, Released.class);
    }
  }

  @Test
  void lifeOfAHold_isToldInOrder() {
    try (Fenceline fenceline = client("a")) {
      Hold hold = fenceline.lock("ledger").tryAcquire().orElseThrow();
      time.advance(Duration.ofSeconds(11));
      hold.release();

      Duration left = Duration.ofSeconds(30).minusMillis(302); // Less the margin for drift.
      assertThat(events)
          .containsExactly(
              new Acquired("ledger", hold.id(), hold.token(), LEASE, Duration.ZERO, Duration.ZERO),
              new Renewed("ledger", hold.id(), hold.token(), left, Duration.ZERO),
              new Released(
                  "ledger",
                  hold.id(),
                  hold.token(),
                  LEASE,
                  ReleaseOutcome.RELEASED,
                  Duration.ofSeconds(11),
                  Duration.ZERO));
    }
  }

  @Test
  void waiting_isToldInOrder() {
    try (Fenceline a = client("a");
        Fenceline b = client("b")) {
      Hold first = a.lock("ledger").tryAcquire().orElseThrow();
      assertThat(b.lock("ledger").tryAcquire()).isEmpty();
      CompletableFuture<Hold> timedOut = b.lock("ledger").acquireAsync(Duration.ofSeconds(1));
      time.advance(Duration.ofSeconds(1));
      CompletableFuture<Hold> next = b.lock("ledger").acquireAsync(LEASE);
      time.advance(Duration.ofSeconds(2));
      first.release();
      Hold second = next.join();

      assertThat(timedOut).isCompletedExceptionally();
      assertThat(events.subList(1, 5))
          .containsExactly(
              new Refused("ledger", "a", Duration.ZERO),
              new Contended("ledger", 1, "a"),
              new TimedOut("ledger", Duration.ofSeconds(1), false),
              new Contended("ledger", 1, "a"));
      assertThat(events)
          .contains(
              new Acquired(
                  "ledger",
                  second.id(),
                  second.token(),
                  LEASE,
                  Duration.ofSeconds(2),
                  Duration.ZERO));
      second.release();
    }
  }

  @Test
  void handOffAndLoss_areToldWithTheirFigures() {
    try (Fenceline fenceline = client("a")) {
      Hold first = fenceline.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> next = fenceline.lock("ledger").acquireAsync(LEASE);
      time.advance(Duration.ofMillis(5));
      first.release();
      Hold second = next.join();
      fenceline.forceRelease("ledger", second.token());
      time.advance(LEASE);

      assertThat(events)
          .contains(
              new HandedOff("ledger", second.id(), second.token(), LEASE, 1, Duration.ofMillis(5)),
              new Lost(
                  "ledger",
                  second.id(),
                  second.token(),
                  LossReason.GONE,
                  Duration.ofSeconds(10),
                  LEASE));
      assertThat(events.stream().filter(Released.class::isInstance)).hasSize(1);
    }
  }

  @Test
  void throwingListener_hearsTheNextEventAllTheSame_andSoDoOthers() {
    List<LockEvent> heard = new CopyOnWriteArrayList<>();
    LockListener throwing =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            heard.add(event);
            throw new IllegalStateException("a listener that fails");
          }
        };
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(space.factory())
            .time(time)
            .listener(throwing)
            .listener(into(events))
            .connect()) {
      fenceline.lock("ledger").tryAcquire().orElseThrow().release();
    }

    assertThat(heard).hasSize(2).isEqualTo(events);
  }

  @Test
  void slowListener_delaysNoLock_andNoOtherListener() {
    CountDownLatch open = new CountDownLatch(1);
    List<LockEvent> slowly = new CopyOnWriteArrayList<>();
    LockListener slow =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            try {
              open.await();
              slowly.add(event);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(MemorySpace.create(System::currentTimeMillis).factory())
            .listener(slow)
            .listener(into(events))
            .connect()) {
      for (int i = 0; i < 50; i++) {
        fenceline.lock("ledger").tryAcquire().orElseThrow().release();
      }
      Eventually.until(BOUND, "the quick listener", () -> events.size() == 100);
      assertThat(slowly).isEmpty();

      open.countDown();

      Eventually.until(BOUND, "the slow listener", () -> slowly.size() == 100);
      assertThat(slowly).isEqualTo(events);
    }
  }

  @Test
  void slowLossListener_delaysNoOtherLoss() {
    CountDownLatch open = new CountDownLatch(1);
    List<String> told = new CopyOnWriteArrayList<>();
    LockOptions brief = LockOptions.defaults().fixedLease(Duration.ofMillis(50));
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(MemorySpace.create(System::currentTimeMillis).factory())
            .connect()) {
      Hold slow = fenceline.lock("slow", brief).tryAcquire().orElseThrow();
      Hold quick = fenceline.lock("quick", brief).tryAcquire().orElseThrow();
      slow.onLost(
          lost -> {
            try {
              open.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            told.add("slow");
          });
      quick.onLost(lost -> told.add("quick"));

      Eventually.until(BOUND, "the quick one", () -> told.contains("quick"));
      assertThat(slow.isValid()).isFalse();
      assertThat(told).containsExactly("quick");
      open.countDown();
      Eventually.until(BOUND, "the slow one", () -> told.contains("slow"));
    }
  }
}
