package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.fence.MemoryFence;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.PrometheusServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * An application that locks in Redis and PostgreSQL, scraped by a real Prometheus with our rules:
 * every figure is the one that the application has counted itself, every panel has an answer, and
 * every alert fires when its fault is made, and not before.
 */
class ScrapeTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final int THREADS = 64;

  /** 100,000 by {@code ./check --long}. */
  private static final int ACQUISITIONS =
      Integer.getInteger("fenceline.scraped.acquisitions", 4_000);

  private static final Pattern ALERT = Pattern.compile("\"alertname\":\"(\\w+)\"");
  private static final Pattern GROUP = Pattern.compile("\"lock_group\":\"(\\w+)\"");

  private final Set<String> fired = new TreeSet<>();

  @Test
  void figuresPanelsAndAlerts() throws Exception {
    try (RedisServer redis = RedisServer.start();
        RedisServer doomed = RedisServer.start();
        PostgresServer postgres = PostgresServer.start();
        FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
        Application application = new Application();
        PrometheusServer prometheus =
            PrometheusServer.start(application.address(), Observability.hastyRules());
        Fenceline inRedis = client(application, redis.uri());
        Fenceline inPostgres =
            client(
                application,
                postgres.jdbcUrl()
                    + "?user="
                    + postgres.user()
                    + "&password="
                    + postgres.password());
        Fenceline behindProxy = client(application, "redis://" + proxy.address());
        Fenceline inDoomed = client(application, doomed.uri())) {
      quietUnderLightLoad(prometheus, inRedis, inPostgres);
      exactUnderHeavyLoad(prometheus, inRedis, inPostgres);
      countersAreExact(prometheus, "redis", inRedis);
      countersAreExact(prometheus, "postgresql", inPostgres);
      missedEventsAreExact(prometheus, application);
      refusedWritesAreExact(prometheus, application);
      alertsForEachFault(
          prometheus, application, proxy, doomed, inRedis, inPostgres, behindProxy, inDoomed);
      assertThat(fired).noneMatch(alert -> alert.endsWith(" light"));
      panelsAnswer(prometheus);
    }
  }

  private static Fenceline client(Application application, String uri) {
    return Fenceline.builder().store(uri).observer(application.metrics).connect();
  }

  private static double value(PrometheusServer prometheus, String expression) {
    return prometheus.query("sum(" + expression + ")").values().stream()
        .mapToDouble(Double::doubleValue)
        .sum();
  }

  private void look(PrometheusServer prometheus) {
    for (String labels : prometheus.query("ALERTS{alertstate=\"firing\"}").keySet()) {
      Matcher alert = ALERT.matcher(labels);
      Matcher group = GROUP.matcher(labels);
      assertThat(alert.find()).isTrue();
      fired.add(alert.group(1) + (group.find() ? " " + group.group(1) : ""));
    }
  }

  // Quiet. --------------------------------------------------------------------------------------

  /** Ten hosts try a nightly job, and one runs it: nothing to be alarmed at. */
  private void quietUnderLightLoad(PrometheusServer prometheus, Fenceline... clients) {
    String rate = "rate(fenceline_acquire_seconds_count{lock_group=\"light\"}[10s])";
    Eventually.until(
        BOUND,
        "rates of the load",
        () -> {
          for (Fenceline client : clients) {
            FencedLock lock = client.lock("light:1");
            try (Hold hold = lock.acquire(BOUND)) {
              assertThat(lock.tryAcquire()).isEmpty();
              assertThat(lock.tryAcquire()).isEmpty();
              assertThat(hold.isValid()).isTrue();
            }
          }
          return value(prometheus, rate + " > 0.05") > 0;
        });
    look(prometheus);
    assertThat(fired).isEmpty();
  }

  // Exact. --------------------------------------------------------------------------------------

  private void exactUnderHeavyLoad(
      PrometheusServer prometheus, Fenceline inRedis, Fenceline inPostgres) throws Exception {
    load(prometheus, "redis", inRedis);
    load(prometheus, "postgresql", inPostgres);
  }

  private static void load(PrometheusServer prometheus, String store, Fenceline client)
      throws Exception {
    AtomicLong held = new AtomicLong();
    AtomicLong refused = new AtomicLong();
    AtomicLong left = new AtomicLong(ACQUISITIONS / 2);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      all.add(CompletableFuture.runAsync(() -> cycles(client, left, held, refused), threads));
    }
    CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
    threads.shutdown();

    String where = "{store=\"" + store + "\",lock_group=\"heavy\",outcome=~\"";
    Map<String, Long> expected =
        Map.of(
            "fenceline_acquire_seconds_count" + where + "granted|handed_off\"}",
            held.get(),
            "fenceline_acquire_seconds_count" + where + "refused\"}",
            refused.get(),
            "fenceline_acquire_seconds_count" + where + "failed|timed_out|interrupted\"}",
            0L,
            "fenceline_acquire_seconds_bucket" + where + "granted|handed_off\",le=\"+Inf\"}",
            held.get(),
            "fenceline_hold_seconds_count" + where + "released\"}",
            held.get(),
            "fenceline_holds{store=\"" + store + "\",lock_group=\"heavy\"}",
            0L,
            "fenceline_waiters{store=\"" + store + "\",lock_group=\"heavy\"}",
            0L,
            "fenceline_hold_active_seconds_count{store=\"" + store + "\",lock_group=\"heavy\"}",
            0L);
    assertThat(held.get() + refused.get()).isEqualTo(ACQUISITIONS / 2);
    expected.forEach((series, count) -> expect(prometheus, series, count));
    assertThat(value(prometheus, "fenceline_contended_acquires_total{store=\"" + store + "\"}"))
        .isPositive();
  }

  private static void expect(PrometheusServer prometheus, String series, long count) {
    Eventually.until(
        BOUND,
        series + " to be " + count,
        () -> value(prometheus, series),
        seen -> seen == (double) count);
  }

  /** What load alone does not bring about: waits, losses and leaks, as many as are made here. */
  private static void countersAreExact(PrometheusServer prometheus, String store, Fenceline client)
      throws InterruptedException {
    int waiters = 5;
    int impatient = 3;
    int refused = 4;
    int expired = 2;
    String group = "{store=\"" + store + "\",lock_group=\"exact\"";
    FencedLock lock = client.lock("exact:1");
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    try (Hold hold = lock.acquire(BOUND)) {
      for (int i = 0; i < waiters; i++) {
        waiting.add(lock.acquireAsync(Duration.ofMinutes(5)).thenAccept(Hold::release));
      }
      for (int i = 0; i < impatient; i++) {
        assertThat(lock.tryAcquire(Duration.ofMillis(1))).isEmpty();
      }
      for (int i = 0; i < refused; i++) {
        assertThat(lock.tryAcquire()).isEmpty();
      }
      expect(prometheus, "fenceline_waiters" + group + "}", waiters);
      expect(prometheus, "fenceline_acquire_active_seconds_count" + group + "}", waiters);
      expect(prometheus, "fenceline_holds" + group + "}", 1);
      expect(prometheus, "fenceline_hold_active_seconds_count" + group + "}", 1);
      assertThat(hold.isValid()).isTrue();
    }
    CompletableFuture.allOf(waiting.toArray(new CompletableFuture<?>[0])).join();
    LockOptions brief = LockOptions.defaults().fixedLease(Duration.ofMillis(300));
    for (int i = 0; i < expired; i++) {
      Hold hold = client.lock("exact:expired" + i, brief).acquire(BOUND);
      Eventually.until(BOUND, "the end of the lease", () -> !hold.isValid());
    }
    // It is not renewed after its longest time, and so lost in the end.
    LockOptions leaky =
        LockOptions.defaults().lease(Duration.ofSeconds(1)).maxHold(Duration.ofMillis(100));
    Hold leaked = client.lock("exact:leaked", leaky).acquire(BOUND);
    Eventually.until(BOUND, "the end of the lease", () -> !leaked.isValid());

    int acquired = 1 + waiters + expired + 1;
    String acquires = "fenceline_acquire_seconds_count" + group + ",outcome=~\"";
    String holds = "fenceline_hold_seconds_count" + group + ",outcome=\"";
    expect(prometheus, acquires + "granted|handed_off\"}", acquired);
    expect(prometheus, acquires + "timed_out\"}", impatient);
    expect(prometheus, acquires + "refused\"}", refused);
    expect(prometheus, acquires + "failed|interrupted\"}", 0);
    expect(prometheus, "fenceline_contended_acquires_total" + group + "}", waiters + impatient);
    expect(prometheus, holds + "released\"}", 1 + waiters);
    expect(prometheus, holds + "lost\"}", expired);
    expect(prometheus, holds + "leaked\"}", 1);
    String lost = "fenceline_lost_holds_total" + group + ",reason";
    expect(prometheus, lost + "=\"expired\"}", expired + 1);
    expect(prometheus, lost + "!=\"expired\"}", 0);
    expect(prometheus, "fenceline_leaked_holds_total" + group + "}", 1);
    expect(prometheus, "fenceline_waiters" + group + "}", 0);
    expect(prometheus, "fenceline_holds" + group + "}", 0);
    expect(prometheus, "fenceline_undos_pending_requests" + group + "}", 0);
    assertThat(value(prometheus, "fenceline_store_up{store=\"" + store + "\"}")).isEqualTo(1);
  }

  /** A listener stands still while more happens than its queue takes. */
  private static void missedEventsAreExact(PrometheusServer prometheus, Application application) {
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicLong heard = new AtomicLong();
    int cycles = LockListener.BACKLOG;
    LockListener slow =
        new LockListener() {
          @Override
          public void on(LockEvent event) {
            try {
              goOn.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            heard.incrementAndGet();
          }
        };
    try (Fenceline client =
        Fenceline.builder()
            .store("memory:scraped")
            .listener(slow)
            .observer(application.metrics)
            .connect()) {
      for (int i = 0; i < cycles; i++) {
        client.lock("missed:1").tryAcquire().orElseThrow().release();
      }
      goOn.countDown();
      // An event of each acquire and of each release: heard, or counted as missed.
      String missed = "fenceline_events_dropped_events_total{lock_group=\"missed\"}";
      Eventually.until(
          BOUND,
          "all events, heard or missed",
          () -> heard.get() + value(prometheus, missed),
          seen -> seen == 2.0 * cycles);
      assertThat(value(prometheus, missed)).isGreaterThanOrEqualTo(cycles - 1);
    }
  }

  private static void refusedWritesAreExact(PrometheusServer prometheus, Application application) {
    int stale = 3;
    MemoryFence fence = new MemoryFence(10, application.metrics.fences());
    fence.check("exact:1", FencingToken.exclusive(2));
    for (int i = 0; i < stale; i++) {
      assertThatThrownBy(() -> fence.check("exact:1", FencingToken.exclusive(1)))
          .isInstanceOf(StaleTokenException.class);
    }
    expect(prometheus, "fenceline_fence_refused_writes_total{lock_group=\"exact\"}", stale);
  }

  private static void cycles(
      Fenceline client, AtomicLong left, AtomicLong held, AtomicLong refused) {
    for (long i = left.getAndDecrement(); i > 0; i = left.getAndDecrement()) {
      FencedLock lock = client.lock("heavy:" + i % 8);
      try {
        Optional<Hold> hold = i % 4 == 0 ? lock.tryAcquire() : lock.tryAcquire(BOUND);
        (hold.isPresent() ? held : refused).incrementAndGet();
        hold.ifPresent(Hold::release);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  // Alarmed. ------------------------------------------------------------------------------------

  private void alertsForEachFault(
      PrometheusServer prometheus,
      Application application,
      FaultProxy proxy,
      RedisServer doomed,
      Fenceline inRedis,
      Fenceline inPostgres,
      Fenceline behindProxy,
      Fenceline inDoomed)
      throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean over = new AtomicBoolean();
    long start = System.nanoTime();
    Hold late =
        behindProxy
            .lock("late:1", LockOptions.defaults().lease(Duration.ofSeconds(12)))
            .acquire(BOUND);
    Fault silence = proxy.stall(Direction.BOTH);
    // A holder that does not let go, and those who wait for it.
    Hold held = inPostgres.lock("busy:1").acquire(BOUND);
    for (int i = 0; i < 4; i++) {
      threads.execute(() -> waitInVain(inPostgres, over));
    }
    // Holders that outlive their lease, one that forgets its hold, and a stale writer.
    threads.execute(() -> expire(inPostgres, over));
    Hold leaked =
        inPostgres
            .lock(
                "leaky:1",
                LockOptions.defaults().lease(Duration.ofSeconds(3)).maxHold(Duration.ofMillis(500)))
            .acquire(BOUND);
    MemoryFence fence = new MemoryFence(10, application.metrics.fences());
    fence.check("stale:1", FencingToken.exclusive(2));
    Eventually.until(
        BOUND,
        "the fence to be known",
        () ->
            !prometheus
                .query("fenceline_fence_refused_writes_total{lock_group=\"stale\"}")
                .isEmpty());
    assertThatThrownBy(() -> fence.check("stale:1", FencingToken.exclusive(1)))
        .isInstanceOf(StaleTokenException.class);
    // A server that dies.
    inDoomed.lock("doomed:1").acquire(BOUND).close();
    doomed.kill();
    threads.execute(() -> askInVain(inDoomed, over));

    awaitAlerts(
        prometheus,
        "LowAcquireRate busy",
        "HighWaitTime busy",
        "LockHeldTooLong busy",
        "HighExpireRate brief",
        "LocksLost brief",
        "LeakedLocks leaky",
        "StaleWritesRefused stale",
        "StoreDown");
    // The renewal was due after 4 seconds: now less than a third of its lease is left.
    Eventually.until(
        BOUND, "the renewal to be late", () -> System.nanoTime() - start > 8_300_000_000L);
    silence.lift();
    awaitAlerts(prometheus, "RenewalsLate late");
    assertThat(late.isValid()).isTrue();
    try (Fault slow = proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(400))) {
      threads.execute(() -> askSlowly(behindProxy, over));
      awaitAlerts(prometheus, "StoreSlow");
    }

    over.set(true);
    held.release();
    late.release();
    leaked.release();
    threads.shutdown();
  }

  private void awaitAlerts(PrometheusServer prometheus, String... alerts) {
    Eventually.until(
        BOUND,
        "alerts " + List.of(alerts),
        () -> {
          look(prometheus);
          return Set.copyOf(fired);
        },
        seen -> seen.containsAll(List.of(alerts)));
  }

  private static void waitInVain(Fenceline client, AtomicBoolean over) {
    while (!over.get()) {
      try {
        client.lock("busy:1").tryAcquire(Duration.ofMillis(1_300)).ifPresent(Hold::release);
      } catch (InterruptedException | RuntimeException e) {
        return; // The test has ended.
      }
    }
  }

  private static void expire(Fenceline client, AtomicBoolean over) {
    LockOptions brief = LockOptions.defaults().fixedLease(Duration.ofMillis(300));
    for (int i = 0; !over.get(); i++) {
      try {
        Hold hold = client.lock("brief:" + i, brief).acquire(BOUND);
        Eventually.until(BOUND, "the end of the lease", () -> !hold.isValid());
      } catch (InterruptedException | RuntimeException e) {
        return;
      }
    }
  }

  private static void askInVain(Fenceline client, AtomicBoolean over) {
    while (!over.get()) {
      try {
        client.lock("doomed:1").tryAcquire(Duration.ofMillis(500)).ifPresent(Hold::release);
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        // The server is dead.
      }
    }
  }

  private static void askSlowly(Fenceline client, AtomicBoolean over) {
    for (int i = 0; !over.get(); i++) {
      try {
        client.lock("slow:" + i).tryAcquire().ifPresent(Hold::release);
      } catch (RuntimeException e) {
        return;
      }
    }
  }

  // Answered. -----------------------------------------------------------------------------------

  private static void panelsAnswer(PrometheusServer prometheus) throws Exception {
    List<String> expressions = Observability.panelExpressions();
    assertThat(expressions).hasSizeGreaterThan(20);
    for (String expression : expressions) {
      // A scrape that a busy machine misses leaves gauges without a value until the next one.
      Eventually.until(
          BOUND, "an answer to " + expression, () -> !prometheus.query(expression).isEmpty());
    }
    for (String meter :
        List.of(
            "fenceline_acquire_seconds_count",
            "fenceline_hold_seconds_count",
            "fenceline_renew_seconds_count",
            "fenceline_store_request_seconds_count",
            "fenceline_hold_active_seconds_count",
            "fenceline_acquire_active_seconds_count",
            "fenceline_holds",
            "fenceline_waiters",
            "fenceline_undos_pending_requests",
            "fenceline_store_up",
            "fenceline_lease_margin_ratio",
            "fenceline_lost_holds_total",
            "fenceline_contended_acquires_total",
            "fenceline_fence_refused_writes_total",
            "fenceline_leaked_holds_total",
            "fenceline_events_dropped_events_total")) {
      assertThat(prometheus.query(meter).keySet())
          .as(meter)
          .isNotEmpty()
          .allMatch(labels -> labels.contains("\"store\":"));
    }
  }
}
