package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.ClientClosedException;
import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.LockTimeoutException;
import io.fenceline.PermitHold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.ManualTime;
import io.fenceline.testkit.fault.LossyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.stereotype.Component;

/** What a locked method does, and what it does without its lock. */
@Timeout(300)
class LockedTest {
  private Application application;

  @AfterEach
  void stop() {
    if (application != null) {
      application.close();
    }
  }

  private Orders orders() {
    application = Application.start(Orders.class, Stock.class, Tenants.class);
    return application.bean(Orders.class);
  }

  @Component("tenants")
  static class Tenants {
    public String current() {
      return "t1";
    }
  }

  static class Stock {
    @Locked("order:#{#id}")
    public FencingToken reserve(long id, FencingToken token) {
      return token;
    }
  }

  static class Orders {
    @Autowired Stock stock;
    @Autowired Fenceline fenceline;
    private int calls;

    public int calls() {
      return calls;
    }

    @Locked(name = "order:#{#id}", maxWait = "${app.wait}")
    public Hold pay(long id, Hold hold) {
      calls++;
      assertThat(fenceline.inspect("order:" + id).isFree()).isFalse();
      return hold;
    }

    @Locked("order:#{#id}")
    public List<FencingToken> payAndReserve(long id, FencingToken token) {
      return List.of(token, LockedContext.currentToken(), stock.reserve(id, null));
    }

    @Locked("${app.region}:#{@tenants.current()}:#{#p0}")
    public String tenant(String name, Hold hold) {
      return hold.name();
    }

    @Locked(name = "nightly", maxWait = "0s", onRefusal = Locked.OnRefusal.SKIP)
    public void nightly() {
      calls++;
    }

    @Locked(name = "report", maxWait = "0s", onRefusal = Locked.OnRefusal.SKIP)
    public Optional<String> report() {
      calls++;
      return Optional.of("done");
    }

    @Locked(name = "quote:#{#id}", maxWait = "0s", fallback = "oldQuote")
    public String quote(long id, Hold hold) {
      return "new";
    }

    private String oldQuote(long id, LockTimeoutException refusal) {
      return "old quote " + id + " since " + refusal.name() + " is held";
    }

    @Locked(name = "table", mode = Locked.Mode.SHARED, maxWait = "0s")
    public FencingToken read(FencingToken token) {
      assertThat(fenceline.readWriteLock("table").readLock().tryAcquire())
          .hasValueSatisfying(Hold::close);
      assertThat(fenceline.lock("table").tryAcquire()).isEmpty();
      return token;
    }

    @Locked(name = "api", mode = Locked.Mode.PERMIT, permits = 2, maxWait = "0s")
    public int two(PermitHold held) {
      assertThat(LockedContext.findToken()).isEmpty();
      LockedContext.assertHeld("api");
      try (PermitHold second = fenceline.semaphore("api", 2).tryAcquire().orElseThrow()) {
        assertThat(fenceline.semaphore("api", 2).tryAcquire()).isEmpty();
      }
      return held.permits();
    }

    @Locked(name = "table", mode = Locked.Mode.SHARED)
    public void readThenWrite(LockTemplate locks) throws InterruptedException {
      locks.run("table", hold -> calls++);
    }

    public void bypass() {
      checked();
    }

    @Locked("checked")
    public void checked() {
      LockedContext.assertHeld();
      calls++;
    }

    @Locked(name = "job", maxWait = "0s", keepAtLeast = "1h")
    public void job() {
      calls++;
    }
  }

  @Test
  void methodHoldsItsLock_whileItRuns_andNoLonger() {
    Orders orders = orders();

    Hold hold = orders.pay(7, null);

    assertThat(hold.name()).isEqualTo("order:7");
    assertThat(hold.isValid()).isFalse();
    assertThat(application.isFree("order:7")).isTrue();
  }

  /** klock#1: a call that gets no lock "to avoid deadlock" runs without it. */
  @Test
  void refusedCall_throws_andNeverRuns() {
    Orders orders = orders();
    try (Hold held = application.other().lock("order:7").tryAcquire().orElseThrow()) {
      assertThatThrownBy(() -> orders.pay(7, null))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("order:7");
      assertThat(orders.calls()).isZero();
      assertThat(orders.pay(8, null)).as("another order").isNotNull();
    }
  }

  @Test
  void innerMethodOfTheSameName_entersAgain_withTheSameToken() {
    List<FencingToken> tokens = orders().payAndReserve(7, null);

    assertThat(tokens).hasSize(3).containsOnly(tokens.get(0));
    assertThat(application.isFree("order:7")).isTrue();
  }

  /**
   * ShedLock#1284: parameters in a name are "out of scope" there; then a version lost its beans
   * (ShedLock#1753).
   */
  @Test
  void name_hasPlaceholders_beans_andParametersByPlace() {
    assertThat(orders().tenant("x", null)).isEqualTo("eu:t1:x");
  }

  @Test
  void skippedCall_returnsWithoutRunning() {
    Orders orders = orders();
    try (Hold a = application.other().lock("nightly").tryAcquire().orElseThrow();
        Hold b = application.other().lock("report").tryAcquire().orElseThrow()) {
      orders.nightly();
      assertThat(orders.report()).isEmpty();
      assertThat(orders.calls()).isZero();
    }
    orders.nightly();
    assertThat(orders.report()).contains("done");
    assertThat(orders.calls()).isEqualTo(2);
  }

  @Test
  void storeThatFails_isNoRefusal() {
    Orders orders = orders();
    application.client().close();
    assertThatThrownBy(orders::nightly).isInstanceOf(ClientClosedException.class);
    assertThatThrownBy(() -> orders.quote(7, null)).isInstanceOf(ClientClosedException.class);
    assertThat(orders.calls()).isZero();
  }

  @Test
  void fallback_isCalledInstead_withTheArgumentsOfTheCaller() {
    Orders orders = orders();
    try (Hold held = application.other().lock("quote:7").tryAcquire().orElseThrow()) {
      assertThat(orders.quote(7, null)).isEqualTo("old quote 7 since quote:7 is held");
    }
    assertThat(orders.quote(7, null)).isEqualTo("new");
  }

  @Test
  void sharedMode_letsReadersIn_andNoWriter() {
    assertThat(orders().read(null).exclusive()).isFalse();
  }

  @Test
  void permits_areCounted() {
    assertThat(orders().two(null)).isEqualTo(1);
  }

  @Test
  void writerInsideOfAReader_isToldThatItWouldWaitForItself() {
    Orders orders = orders();
    assertThatThrownBy(() -> orders.readThenWrite(application.bean(LockTemplate.class)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("would wait for itself");
    assertThat(application.isFree("table")).isTrue();
  }

  /** Self-invocation: research, "proxy nature". */
  @Test
  void selfInvocation_isNoticedByAssertHeld() {
    Orders orders = orders();
    orders.checked();
    assertThatThrownBy(orders::bypass)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("another method of the same object");
    assertThat(orders.calls()).isEqualTo(1);
  }

  @Test
  void keepAtLeast_keepsASecondServerFromRunningTheSameJob() {
    ManualTime time = new ManualTime();
    application = Application.start(time, Orders.class, Stock.class, Tenants.class);
    Orders orders = application.bean(Orders.class);
    orders.job();
    assertThatThrownBy(orders::job).isInstanceOf(LockTimeoutException.class);
    time.advance(Duration.ofHours(1).plusSeconds(1));
    orders.job();
    assertThat(orders.calls()).isEqualTo(2);
  }

  static class Slow {
    ManualTime time;
    boolean interrupted;
    Runnable during = () -> {};

    @Locked(name = "slow", lease = "10s")
    public String pauses() {
      time.pause(Duration.ofSeconds(11));
      return "written";
    }

    @Locked(name = "slow", lease = "10s")
    public String pausesAndFails() {
      time.pause(Duration.ofSeconds(11));
      throw new IllegalStateException("own");
    }

    @Locked(name = "renewed", lease = "10s")
    public boolean works(Hold hold) {
      during.run();
      time.advance(Duration.ofMinutes(5));
      return hold.isValid();
    }

    @Locked(name = "fixed", fixedLease = "10s", interruptOnLoss = true)
    public void fixed() {
      time.advance(Duration.ofMinutes(5));
      interrupted = Thread.interrupted();
    }
  }

  private Slow slow() {
    ManualTime time = new ManualTime();
    application = Application.start(time, Slow.class);
    Slow slow = application.bean(Slow.class);
    ((Slow) AopProxyUtils.getSingletonTarget(slow)).time = time;
    return slow;
  }

  @Test
  void lossWhileTheMethodRuns_isThrownAfterIt() {
    Slow slow = slow();
    assertThatThrownBy(slow::pauses).isInstanceOf(LockLostException.class);
    assertThatThrownBy(slow::pausesAndFails)
        .hasMessage("own")
        .satisfies(
            e -> assertThat(e.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class));
  }

  /** JeecgBoot#7836: a lease that someone names must not switch renewal off. */
  @Test
  void lease_renewsItself_andAFixedOneEnds() {
    Slow slow = slow();
    assertThat(slow.works(null)).isTrue();
    assertThatThrownBy(slow::fixed).isInstanceOf(LockLostException.class);
    Slow target = (Slow) AopProxyUtils.getSingletonTarget(slow);
    assertThat(target.interrupted).isTrue();
  }

  /**
   * lock4j makes a new timer thread for each third of a lease, and the first exception ends its
   * renewal for good. Here one renewer serves all holds, and asks again until the lease is over.
   */
  @Test
  void renewal_hasNoThreadOfItsOwn_andOutlivesAFailure() {
    ManualTime time = new ManualTime();
    MemorySpace space = MemorySpace.create(time::wallMillis);
    LossyStore[] store = new LossyStore[1];
    StoreFactory lossy = context -> store[0] = new LossyStore(space.factory(), context);
    try (Fenceline client = Fenceline.builder().store(lossy).time(time).connect();
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean("fenceline", Fenceline.class, () -> client);
      context.register(Application.EnabledByDefault.class, Slow.class);
      context.refresh();
      Slow slow = context.getBean(Slow.class);
      Slow target = (Slow) AopProxyUtils.getSingletonTarget(slow);
      target.time = time;
      Set<Thread> before = Thread.getAllStackTraces().keySet();
      store[0].fault(LossyStore.Operation.RENEW, LossyStore.Fault.LOSE_REQUEST);
      target.during =
          () -> {
            time.advance(Duration.ofSeconds(5));
            assertThat(store[0].met()).as("renewals that failed").isPositive();
            store[0].heal();
          };

      assertThat(slow.works(null)).as("valid five minutes later").isTrue();

      assertThat(store[0].asked(LossyStore.Operation.RENEW)).isGreaterThan(60);
      // Tests beside this one start clients, each with a timer; a thread a renewal would be sixty.
      assertThat(Thread.getAllStackTraces().keySet())
          .filteredOn(thread -> !before.contains(thread))
          .filteredOn(thread -> thread.getName().toLowerCase(Locale.ROOT).contains("timer"))
          .hasSizeLessThan(30);
    }
  }

  /** Also lock4j, which swallows it. */
  @Test
  void waitingThreadThatIsInterrupted_saysSo_andKeepsTheInterrupt() {
    Orders orders = orders();
    try (Hold held = application.other().lock("checked").tryAcquire().orElseThrow()) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(orders::checked)
          .isExactlyInstanceOf(IllegalStateException.class)
          .hasMessage("Interrupted while waiting for lock 'checked'; it was not acquired")
          .hasCauseInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Locked(name = "type:#{#root.class.simpleName}", maxWait = "0s")
  static class WholeType {
    public String locked() {
      return LockedContext.currentHold().name();
    }

    @Locked(name = "own", maxWait = "0s")
    public String own() {
      return LockedContext.currentHold().name();
    }

    @Override
    public String toString() {
      return "free=" + LockedContext.findHold().isEmpty();
    }
  }

  @Test
  void annotationOfAType_isForItsPublicMethods_andTheirOwnComesFirst() {
    application = Application.start(WholeType.class);
    WholeType bean = application.bean(WholeType.class);
    assertThat(bean.locked()).isEqualTo("type:WholeType");
    assertThat(bean.own()).isEqualTo("own");
    assertThat(bean.toString()).isEqualTo("free=true");
  }

  @Test
  void manyCallers_neverRunTogether() {
    application = Application.start(Counter.class);
    Counter counter = application.bean(Counter.class);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(
          CompletableFuture.runAsync(
              () -> {
                for (int n = 0; n < 50; n++) {
                  counter.increment();
                }
              },
              task -> new Thread(task).start()));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
    assertThat(counter.value()).isEqualTo(400);
  }

  static class Counter {
    private int value;

    @Locked(name = "counter", maxWait = "1m")
    public void increment() {
      int before = value;
      Thread.yield();
      value = before + 1;
    }

    public int value() {
      return value;
    }
  }

  static class ByName implements LockSettings {
    @Override
    public LockOptions options(String name, LockOptions ofClient) {
      return ofClient.lease(Duration.ofMinutes(2));
    }

    @Override
    public Duration maxWait(String name) {
      return Duration.ZERO;
    }
  }

  @Test
  void settingsBean_saysWhatTheAnnotationDoesNot() {
    application = Application.start(Orders.class, Stock.class, Tenants.class, ByName.class);
    Orders orders = application.bean(Orders.class);
    assertThat(orders.pay(1, null).lease()).isEqualTo(Duration.ofMinutes(2));
    try (Hold held = application.other().lock("checked").tryAcquire().orElseThrow()) {
      assertThatThrownBy(orders::checked).hasMessageContaining("within 0ms");
    }
  }

  @Test
  void template_setsTheContext_andSkips() throws InterruptedException {
    Orders orders = orders();
    LockTemplate locks = application.bean(LockTemplate.class);
    FencingToken token =
        locks.call(
            "order:7",
            hold -> {
              assertThat(LockedContext.currentToken()).isEqualTo(hold.fencingToken());
              assertThat(orders.pay(7, null).fencingToken()).isEqualTo(hold.fencingToken());
              return hold.fencingToken();
            });
    assertThat(token.value()).isPositive();
    try (Hold held = application.other().lock("order:7").tryAcquire().orElseThrow()) {
      assertThat(locks.maxWait(Duration.ZERO).tryRun("order:7", hold -> orders.nightly()))
          .isFalse();
    }
    assertThat(locks.<Object, RuntimeException>call("order:7", hold -> null)).isNull();
    assertThat(LockedContext.findHold()).isEmpty();
  }
}
