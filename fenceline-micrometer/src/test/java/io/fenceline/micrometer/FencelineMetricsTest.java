package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.MemoryFence;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each meter has the value that a test has counted itself. */
class FencelineMetricsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final String ORDER = "orders:17";

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final MockClock clock = new MockClock();
  private final MeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
  private final FencelineMetrics metrics = FencelineMetrics.of(registry);

  private FencelineBuilder builder() {
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .observer(metrics)
        .defaultOptions(LockOptions.defaults().lease(LEASE));
  }

  private Fenceline other() {
    return Fenceline.builder().store(space.factory()).time(time).connect();
  }

  private void advance(Duration by) {
    time.advance(by);
    clock.add(by);
  }

  private Timer timer(String name, String... tags) {
    return registry.get(name).tags("store", "memory", "lock.group", "orders").tags(tags).timer();
  }

  private double counter(String name, String... tags) {
    return registry
        .get(name)
        .tags("store", "memory", "lock.group", "orders")
        .tags(tags)
        .counter()
        .count();
  }

  private double gauge(String name) {
    return registry.get(name).tags("store", "memory", "lock.group", "orders").gauge().value();
  }

  private long acquires(String outcome) {
    return timer("fenceline.acquire", "outcome", outcome).count();
  }

  @Test
  void aCycle_countsItsAcquireHoldAndRequests_withTheirTimes() {
    try (Fenceline fenceline = builder().connect()) {
      Hold hold = fenceline.lock(ORDER).tryAcquire().orElseThrow();
      assertThat(gauge("fenceline.holds")).isEqualTo(1);
      advance(Duration.ofSeconds(5));
      assertThat(registry.get("fenceline.hold.active").longTaskTimer().activeTasks()).isEqualTo(1);
      assertThat(registry.get("fenceline.hold.active").longTaskTimer().max(TimeUnit.SECONDS))
          .isEqualTo(5);
      hold.release();

      assertThat(acquires("granted")).isEqualTo(1);
      assertThat(timer("fenceline.hold", "outcome", "released").totalTime(TimeUnit.SECONDS))
          .isEqualTo(5);
      assertThat(
              timer("fenceline.store.request", "operation", "claim", "outcome", "answered").count())
          .isEqualTo(1);
      assertThat(
              timer("fenceline.store.request", "operation", "release", "outcome", "answered")
                  .count())
          .isEqualTo(1);
      assertThat(gauge("fenceline.holds")).isZero();
      assertThat(registry.get("fenceline.hold.active").longTaskTimer().activeTasks()).isZero();
    }
  }

  @Test
  void waiting_isSeenWhileItLasts_andEndsAsWhatItWas() {
    try (Fenceline fenceline = builder().connect();
        Fenceline other = other()) {
      Hold held = other.lock(ORDER).tryAcquire().orElseThrow();
      assertThat(fenceline.lock(ORDER).tryAcquire()).isEmpty();
      CompletableFuture<Hold> late = fenceline.lock(ORDER).acquireAsync(Duration.ofSeconds(2));
      CompletableFuture<Hold> next = fenceline.lock(ORDER).acquireAsync(LEASE);
      CompletableFuture<Hold> last = fenceline.lock(ORDER).acquireAsync(LEASE);
      CompletableFuture<Hold> cancelled = fenceline.lock(ORDER).acquireAsync(LEASE);
      advance(Duration.ofSeconds(2));
      cancelled.cancel(false);

      assertThat(late).isCompletedExceptionally();
      assertThat(gauge("fenceline.waiters")).isEqualTo(2);
      assertThat(registry.get("fenceline.acquire.active").longTaskTimer().activeTasks())
          .isEqualTo(2);
      assertThat(registry.get("fenceline.acquire.active").longTaskTimer().max(TimeUnit.SECONDS))
          .isEqualTo(2);
      held.release();
      next.join().release();
      last.join().release();

      assertThat(gauge("fenceline.waiters")).isZero();
      assertThat(acquires("refused")).isEqualTo(1);
      assertThat(acquires("timed_out")).isEqualTo(1);
      assertThat(acquires("interrupted")).isEqualTo(1);
      assertThat(acquires("granted")).isEqualTo(1);
      assertThat(acquires("handed_off")).isEqualTo(1);
      assertThat(counter("fenceline.contended")).isEqualTo(4);
    }
  }

  @Test
  void renewalsLossesAndLeaks() {
    try (Fenceline fenceline = builder().connect();
        Fenceline other = other()) {
      Hold hold = fenceline.lock(ORDER).tryAcquire().orElseThrow();
      assertThat(gauge("fenceline.lease.margin")).isEqualTo(1);
      advance(Duration.ofSeconds(11));
      assertThat(timer("fenceline.renew", "outcome", "renewed").count()).isEqualTo(1);
      assertThat(gauge("fenceline.lease.margin")).isBetween(0.65, 0.67);

      other.forceRelease(ORDER, hold.token());
      advance(Duration.ofSeconds(11));
      LockOptions brief = LockOptions.defaults().lease(LEASE).maxHold(Duration.ofSeconds(1));
      Hold leaking = fenceline.lock(ORDER, brief).tryAcquire().orElseThrow();
      advance(LEASE);

      assertThat(leaking.isValid()).isFalse();
      assertThat(timer("fenceline.renew", "outcome", "gone").count()).isEqualTo(1);
      assertThat(counter("fenceline.lost", "reason", "gone")).isEqualTo(1);
      assertThat(counter("fenceline.lost", "reason", "expired")).isEqualTo(1);
      assertThat(counter("fenceline.leaked")).isEqualTo(1);
      assertThat(timer("fenceline.hold", "outcome", "lost").count()).isEqualTo(1);
      assertThat(timer("fenceline.hold", "outcome", "leaked").count()).isEqualTo(1);
      advance(Duration.ofMinutes(4));
      assertThat(gauge("fenceline.lease.margin")).isEqualTo(1);
    }
  }

  /** A store that is not heard of for a while. */
  private StoreFactory silent(AtomicBoolean silence) {
    StoreFactory real = space.factory();
    return context -> {
      LockStore store = real.open(context);
      return (LockStore)
          Proxy.newProxyInstance(
              LockStore.class.getClassLoader(),
              new Class<?>[] {LockStore.class},
              (proxy, method, arguments) -> {
                if (silence.get() && Set.of("claim", "withdraw").contains(method.getName())) {
                  return method.getReturnType() == void.class ? null : new CompletableFuture<>();
                }
                try {
                  return method.invoke(store, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    };
  }

  @Test
  void storeThatIsSilent_isDownUntilItAnswersAgain_andWhatIsUndoneIsPending() {
    AtomicBoolean silence = new AtomicBoolean();
    try (Fenceline fenceline = builder().store(silent(silence)).connect()) {
      fenceline.lock(ORDER).tryAcquire().orElseThrow().release();
      assertThat(registry.get("fenceline.store.up").tag("store", "memory").gauge().value())
          .isEqualTo(1);
      silence.set(true);
      CompletableFuture<Hold> asked = fenceline.lock(ORDER).acquireAsync(Duration.ofSeconds(1));
      advance(Duration.ofSeconds(1));
      assertThatThrownBy(asked::join).hasCauseInstanceOf(StoreUnavailableException.class);

      assertThat(registry.get("fenceline.store.up").gauge().value()).isZero();
      assertThat(gauge("fenceline.undos.pending")).isEqualTo(1);
      assertThat(acquires("failed")).isEqualTo(1);
      silence.set(false);
      advance(Duration.ofSeconds(10));

      assertThat(gauge("fenceline.undos.pending")).isZero();
      assertThat(registry.get("fenceline.store.up").gauge().value()).isEqualTo(1);
      assertThat(
              timer("fenceline.store.request", "operation", "claim", "outcome", "unavailable")
                  .count())
          .isEqualTo(1);
    }
    assertThat(registry.find("fenceline.store.up").gauge()).isNull();
  }

  @Test
  void whatAFenceRefuses_isCounted() {
    MemoryFence fence = new MemoryFence(10, metrics.fences());
    fence.check(ORDER, FencingToken.exclusive(2));
    assertThat(counter("fenceline.fence.refused")).isZero();
    assertThatThrownBy(() -> fence.check(ORDER, FencingToken.exclusive(1)))
        .isInstanceOf(StaleTokenException.class);

    assertThat(counter("fenceline.fence.refused")).isEqualTo(1);
  }

  @Test
  void everyMeter_hasADescription_aStoreAndAGroup_andNoneANameOrAnAddress() {
    try (Fenceline fenceline = builder().connect()) {
      fenceline.lock(ORDER).tryAcquire().orElseThrow().release();
      for (Meter meter : registry.getMeters()) {
        assertThat(meter.getId().getDescription()).as("%s", meter.getId()).isNotBlank();
        assertThat(meter.getId().getTag("store")).isEqualTo("memory");
        if (!meter.getId().getName().equals("fenceline.store.up")) {
          assertThat(meter.getId().getTag("lock.group")).isEqualTo("orders");
          assertThat(meter.getId().getBaseUnit()).as("%s", meter.getId()).isNotBlank();
        }
        assertThat(meter.getId().toString()).doesNotContain("17");
      }
      assertThat(registry.getMeters().stream().map(m -> m.getId().getName()))
          .contains(
              "fenceline.acquire",
              "fenceline.hold",
              "fenceline.store.request",
              "fenceline.hold.active",
              "fenceline.acquire.active",
              "fenceline.holds",
              "fenceline.waiters",
              "fenceline.undos.pending",
              "fenceline.store.up",
              "fenceline.lease.margin",
              "fenceline.lost",
              "fenceline.contended",
              "fenceline.leaked",
              "fenceline.events.dropped");
    }
  }

  @Test
  void clientsOfOneRegistry_areCountedTogether() {
    MeterRegistry common = new SimpleMeterRegistry();
    try (Fenceline one = other();
        Fenceline two = other()) {
      FencelineMetrics bound = FencelineMetrics.bind(one, common);
      assertThat(FencelineMetrics.bind(two, common)).isSameAs(bound);
      Hold first = one.lock("orders:1").tryAcquire().orElseThrow();
      Hold second = two.lock("orders:2").tryAcquire().orElseThrow();
      System.gc();

      assertThat(common.get("fenceline.holds").gauge().value()).isEqualTo(2);
      first.release();
      second.release();
      assertThat(common.get("fenceline.acquire").tag("outcome", "granted").timer().count())
          .isEqualTo(2);
    }
  }

  @Test
  void offeredBuckets_areForOurTimers_andKeepTheMetersOfObservationsOut() {
    MeterRegistry filtered = new SimpleMeterRegistry();
    filtered.config().meterFilter(FencelineMetrics.buckets());

    assertThat(
            Timer.builder("fenceline.acquire")
                .tags("store", "memory")
                .register(filtered)
                .takeSnapshot()
                .histogramCounts())
        .extracting(count -> count.bucket(TimeUnit.SECONDS))
        .contains(1.0, 60.0);
    assertThat(Timer.builder("theirs").register(filtered).takeSnapshot().histogramCounts())
        .isEmpty();
    Timer.builder("fenceline.acquire").tags("error", "none").register(filtered);
    assertThat(filtered.getMeters().stream().map(m -> m.getId().getTag("error")))
        .doesNotContain("none");
  }

  @Test
  void sixtyFourThreads_areCountedExactly() throws Exception {
    int threads = 64;
    int cycles = 100_000 / threads;
    MeterRegistry real = new SimpleMeterRegistry();
    AtomicLong held = new AtomicLong();
    AtomicLong refused = new AtomicLong();
    try (Fenceline fenceline =
        Fenceline.builder()
            .store("memory:sixty-four")
            .observer(FencelineMetrics.of(real))
            .connect()) {
      List<Thread> all = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int number = t;
        Thread thread =
            new Thread(
                () -> {
                  for (int i = 0; i < cycles; i++) {
                    cycle(fenceline, "orders:" + (number + i) % 16, i % 4 == 0, held, refused);
                  }
                });
        all.add(thread);
        thread.start();
      }
      for (Thread thread : all) {
        thread.join();
      }
      Eventually.until(
          BOUND, "the last release", () -> real.get("fenceline.holds").gauge().value() == 0);

      assertThat(counts(real, "fenceline.acquire", "granted", "handed_off")).isEqualTo(held.get());
      assertThat(counts(real, "fenceline.acquire", "refused")).isEqualTo(refused.get());
      assertThat(counts(real, "fenceline.hold", "released")).isEqualTo(held.get());
      assertThat(held.get() + refused.get()).isEqualTo((long) threads * cycles);
      assertThat(counts(real, "fenceline.acquire", "timed_out", "failed", "interrupted")).isZero();
      assertThat(real.get("fenceline.waiters").gauge().value()).isZero();
      assertThat(real.get("fenceline.hold.active").longTaskTimer().activeTasks()).isZero();
      assertThat(real.get("fenceline.acquire.active").longTaskTimer().activeTasks()).isZero();
    }
  }

  private static void cycle(
      Fenceline fenceline, String name, boolean tries, AtomicLong held, AtomicLong refused) {
    try {
      if (tries) {
        fenceline
            .lock(name)
            .tryAcquire()
            .ifPresentOrElse(
                hold -> {
                  held.incrementAndGet();
                  hold.release();
                },
                refused::incrementAndGet);
      } else {
        try (Hold hold = fenceline.lock(name).acquire(Duration.ofMinutes(1))) {
          held.incrementAndGet();
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static long counts(MeterRegistry registry, String name, String... outcomes) {
    return List.of(outcomes).stream()
        .map(outcome -> registry.get(name).tag("outcome", outcome).timers())
        .collect(Collectors.toList())
        .stream()
        .flatMap(java.util.Collection::stream)
        .mapToLong(Timer::count)
        .sum();
  }
}
