package io.fenceline.testkit.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Certainty;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.fault.LossyStore;
import io.fenceline.testkit.log.LogCapture;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/** What the log says, and what it never says. */
class LogLinesTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** Every owner secret starts with this; half of one would already be too much. */
  private static final String CANARY = "c0ffee00c0ffee00";

  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final LogCapture log = LogCapture.open();

  @AfterEach
  void close() {
    log.close();
  }

  private FencelineBuilder client(String label) {
    RandomGenerator owners =
        new RandomGenerator() {
          private boolean second;

          @Override
          public long nextLong() {
            second = !second;
            return second ? 0xc0ffee00c0ffee00L : System.identityHashCode(new Object());
          }
        };
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .random(owners)
        .label(label)
        .defaultOptions(LockOptions.defaults().lease(LEASE));
  }

  private static Hold take(Fenceline fenceline, LockOptions options) {
    return fenceline.lock("ledger", options).tryAcquire().orElseThrow();
  }

  private String only(Level level, String containing) {
    List<String> found = log.at(level).stream().filter(t -> t.contains(containing)).toList();
    assertThat(found).as("lines with '%s' in %s", containing, log.lines()).hasSize(1);
    return found.get(0);
  }

  @Test
  void acquireAndRelease_areDebug_withNameIdTokenAndLease() {
    try (Fenceline fenceline = client("a").connect()) {
      Hold hold = take(fenceline, LockOptions.defaults().lease(LEASE));
      time.advance(Duration.ofSeconds(1));
      hold.release();

      assertThat(only(Level.DEBUG, "acquired"))
          .isEqualTo(
              "Lock 'ledger' acquired (id=%s, token=%d, lease=30s, waited=0ms, roundTrip=0ms, store=memory:)"
                  .formatted(hold.id(), hold.token()));
      assertThat(only(Level.DEBUG, "released"))
          .isEqualTo(
              "Lock 'ledger' released: RELEASED (id=%s, token=%d, lease=30s, held=1s, store=memory:)"
                  .formatted(hold.id(), hold.token()));
      assertThat(log.at(Level.WARN)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void storeThatMayForgetLocks_isAWarning_onceForEachClient(Certainty durable) {
    try (Fenceline fenceline = client("a").store(space(durable)).connect()) {
      take(fenceline, LockOptions.defaults().lease(LEASE)).release();
      take(fenceline, LockOptions.defaults().lease(LEASE)).release();

      List<String> warnings = log.at(Level.WARN);
      switch (durable) {
        case YES -> assertThat(warnings).isEmpty();
        case NO ->
            assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("Store memory: may forget locks that are held: fsync is off.")
                .contains("writes need a fence", "require DURABLE");
        case UNKNOWN ->
            assertThat(warnings)
                .singleElement()
                .asString()
                .startsWith("It could not be found out whether store memory: forgets held locks")
                .contains("in a crash: fsync is off.", "require DURABLE");
      }
    }
  }

  /** The same locks, of which something else is said. */
  private StoreFactory space(Certainty durable) {
    return context -> {
      LockStore store = space.factory().open(context);
      return (LockStore)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {LockStore.class},
              (proxy, method, arguments) ->
                  method.getName().equals("guarantees")
                      ? store.guarantees().durable(durable, "fsync is off")
                      : method.invoke(store, arguments));
    };
  }

  @Test
  void handOff_isDebug_withNameIdTokenAndLease() {
    try (Fenceline fenceline = client("a").connect()) {
      Hold hold = take(fenceline, LockOptions.defaults().lease(LEASE));
      CompletableFuture<Hold> next = fenceline.lock("ledger").acquireAsync(LEASE);
      hold.release();

      assertThat(only(Level.DEBUG, "handed off"))
          .contains("'ledger'", "id=" + next.join().id(), "token=" + next.join().token())
          .contains("lease=30s", "handOff=1");
      next.join().release();
    }
  }

  @Test
  void renewal_isDebug() {
    try (Fenceline fenceline = client("a").connect()) {
      Hold hold = take(fenceline, LockOptions.defaults().lease(LEASE));
      time.advance(LEASE.dividedBy(2));

      assertThat(only(Level.DEBUG, "renewed")).contains("'ledger'", "id=" + hold.id(), "token=");
      hold.release();
    }
  }

  @Test
  void loss_isAWarning_withNameIdTokenAndLease() {
    try (Fenceline fenceline = client("a").connect()) {
      Hold hold = take(fenceline, LockOptions.defaults().fixedLease(LEASE));
      time.advance(LEASE);

      assertThat(only(Level.WARN, "is lost"))
          .startsWith("Lock 'ledger' is lost: its lease ended by the local clock, last renewed ")
          .contains("on a 30s lease (token=" + hold.token() + ", store=memory:)")
          .contains("Another process may hold it; stop writing.", "id=" + hold.id());
    }
  }

  @Test
  void leak_isAWarning_withNameIdTokenAndLease_andWhereItWasAcquired() {
    try (Fenceline fenceline = client("a").connect()) {
      LockOptions options = LockOptions.defaults().lease(LEASE).maxHold(LEASE).leakTrace();
      Hold hold = take(fenceline, options);
      time.advance(LEASE.multipliedBy(3));

      assertThat(only(Level.WARN, "leaked"))
          .contains("Lock 'ledger' leaked: it was held for longer than maxHold")
          .contains("id=" + hold.id(), "token=" + hold.token(), "lease=30s")
          .contains("LogLinesTest");
    }
  }

  @Test
  void contentionRefusalAndTimeout_areDebug() {
    try (Fenceline a = client("worker-7").connect();
        Fenceline b = client("b").connect()) {
      Hold hold = take(a, LockOptions.defaults().lease(LEASE));
      assertThat(b.lock("ledger").tryAcquire()).isEmpty();
      CompletableFuture<Hold> waiting = b.lock("ledger").acquireAsync(Duration.ofSeconds(5));
      time.advance(Duration.ofSeconds(5));

      assertThat(waiting).isCompletedExceptionally();
      assertThat(only(Level.DEBUG, "not waiting")).contains("'ledger' is held by worker-7");
      assertThat(only(Level.DEBUG, "waiting in this client"))
          .contains("'ledger' is held by worker-7; 1 waiting in this client");
      assertThat(only(Level.DEBUG, "was not acquired")).contains("'ledger'", "5s");
      hold.release();
    }
  }

  @Test
  void holderThatIsNotKnown_isNotNamed() {
    LossyStore[] way = new LossyStore[1];
    StoreFactory slow = context -> way[0] = new LossyStore(space.factory(), context);
    try (Fenceline a = Fenceline.builder().store(slow).time(time).label("a").connect()) {
      way[0].fault(LossyStore.Operation.CLAIM, LossyStore.Fault.HOLD_REPLY);
      CompletableFuture<Hold> first = a.lock("ledger").acquireAsync(Duration.ofSeconds(5));

      assertThat(a.lock("ledger").tryAcquire()).isEmpty();

      assertThat(only(Level.DEBUG, "not waiting"))
          .contains("Lock 'ledger' is held; not waiting (store=");
      way[0].heal();
      first.join().release();
    }
  }

  @Test
  void ownerSecrets_areInNoLine_noText_andNoReport() {
    try (Fenceline a = client("a").connect();
        Fenceline b = client("b").connect()) {
      Hold hold = take(a, LockOptions.defaults().lease(LEASE));
      CompletableFuture<Hold> waiting = b.lock("ledger").acquireAsync(Duration.ofSeconds(1));
      String report = a.inspect("ledger") + " " + a.list("", 10) + a + b + hold + a.lock("ledger");
      time.advance(Duration.ofSeconds(1));
      Throwable timeout = waiting.handle((value, failure) -> failure).join();
      a.forceRelease("ledger", hold.token());
      time.advance(LEASE);
      hold.release();

      assertThat(log.lines()).hasSizeGreaterThan(3);
      assertThat(report + timeout).contains(hold.id()).doesNotContain(CANARY);
      assertThat(log.lines().toString()).contains(hold.id()).doesNotContain(CANARY);
    }
  }
}
