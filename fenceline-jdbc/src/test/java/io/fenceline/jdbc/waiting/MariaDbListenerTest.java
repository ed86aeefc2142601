package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.Worker;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Frame;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What a bell costs, and that no ring is lost. Where time is handed in and stands still, nobody
 * looks: only what is heard can bring a grant.
 */
class MariaDbListenerTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration LEASE = Duration.ofSeconds(50);

  private static MariaDbServer server;

  @BeforeAll
  static void start() {
    server = MariaDbServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static JavaProcess worker(String url) {
    JavaProcess worker =
        JavaProcess.of(Worker.class)
            .argument(url)
            .argument(Long.toString(LEASE.toMillis()))
            .argument("other")
            .start();
    worker.expect("ready", BOUND);
    return worker;
  }

  private static void hold(JavaProcess worker, String name) {
    worker.send("hold " + name);
    worker.expect("held", BOUND);
  }

  private static void release(JavaProcess worker) {
    worker.send("release");
    worker.expect("valid=true RELEASED", BOUND);
  }

  private static Heard waits(LockStore store, String name) {
    Heard heard = new Heard(store, name, Mode.EXCLUSIVE, LEASE);
    Eventually.until(BOUND, name + " to wait", () -> heard.waiting >= 1);
    return heard;
  }

  private static void awaitGrant(Heard heard) {
    Eventually.until(BOUND, "a grant", () -> heard.granted.size() == 1);
  }

  /** Waits once, for a name that the worker has. */
  private static void awaitEars(LockStore store, JavaProcess worker) {
    hold(worker, "ears");
    Heard first = waits(store, "ears");
    Eventually.until(BOUND, "the bell", () -> Heard.isTold(store));
    awaitSleepers(1);
    store.withdraw(first.request).join();
    release(worker);
  }

  private static void awaitSleepers(int count) {
    Eventually.until(BOUND, count + " to sleep", () -> sleepers() == count);
  }

  private static int sleepers() {
    return Integer.parseInt(
        server.sql(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'"));
  }

  private static void awaitWaiter(String name) {
    String count = "SELECT COUNT(*) FROM fenceline_claims WHERE name = '" + name + "'";
    Eventually.until(BOUND, "one to wait", () -> server.sql(count).equals("1"));
  }

  private static boolean isSleep(Frame request) {
    return request.contains("SLEEP(");
  }

  private static FaultProxy proxy() {
    return FaultProxy.to(server.host(), server.port(), Protocol.MYSQL);
  }

  private static String through(FaultProxy proxy) {
    return Urls.of(server).replace(server.address(), proxy.address());
  }

  @Test
  void aHandOver_costsFewStatements_andAnIdleWaiterHardlyAny() {
    try (FaultProxy proxy = proxy();
        LockStore waiting = Heard.open(through(proxy), new ManualTime());
        JavaProcess other = worker(through(proxy));
        JavaProcess idle = worker(through(proxy))) {
      awaitEars(waiting, other);
      hold(other, "counted");
      Heard ours = waits(waiting, "counted");
      release(other);
      awaitGrant(ours);
      long fewest = Long.MAX_VALUE;
      for (int turn = 0; turn < 10; turn++) {
        other.send("hold counted");
        awaitWaiter("counted");
        awaitSleepers(2);
        proxy.resetCounts(); // There and back again.
        waiting.release(new ReleaseRequest(ours.grant(), Duration.ZERO)).join();
        other.expect("held", BOUND);
        ours = waits(waiting, "counted");
        other.send("release");
        other.expect("valid=true RELEASED", BOUND);
        awaitGrant(ours);
        awaitSleepers(2);
        fewest = Math.min(fewest, proxy.count("Query") + 1); // And the claim before.
      }
      waiting.release(new ReleaseRequest(ours.grant(), Duration.ZERO)).join();
      System.out.printf("Two hand-overs, with the sleeps of bells: %d statements%n", fewest);
      assertThat(fewest).isBetween(6L, 8L);

      hold(other, "gate");
      idle.send("wait gate 8");
      idle.expect("waiting", BOUND);
      awaitSleepers(3);
      long[] start = {System.nanoTime(), 0};
      Eventually.until(
          BOUND,
          "those who have come last to be quiet",
          () -> {
            start[0] = proxy.count("Query") == start[1] ? start[0] : System.nanoTime();
            start[1] = proxy.count("Query");
            return System.nanoTime() - start[0] > 1_500_000_000L;
          });
      proxy.resetCounts();
      long since = System.nanoTime();
      Eventually.until(BOUND, "ten seconds", () -> System.nanoTime() - since > 10_000_000_000L);
      double perSecond = proxy.count("Query") / ((System.nanoTime() - since) / 1e9);
      System.out.printf("Waiting: %.2f statements per second%n", perSecond);
      // A sign of life each five seconds, with which it looks. Three bells sleep for thirty.
      assertThat(perSecond).isBetween(0.05, 0.6);
      release(other);
    }
  }

  @Test
  void ringWhileNobodySleeps_isMadeUpForByTheLookOfTheNextSleep() {
    try (FaultProxy proxy = proxy();
        LockStore waiting = Heard.open(through(proxy), new ManualTime());
        JavaProcess first = worker(Urls.of(server));
        JavaProcess second = worker(Urls.of(server))) {
      awaitEars(waiting, first);
      hold(first, "one");
      Heard one = waits(waiting, "one");
      hold(second, "two");
      Heard two = waits(waiting, "two");
      Fault held = proxy.holdRequest(Trigger.first(MariaDbListenerTest::isSleep));
      release(second);
      awaitGrant(two); // By the bell, which can't sleep again now.
      Eventually.until(BOUND, "the bell not to sleep", () -> held.timesApplied() > 0);
      release(first);
      assertThat(sleepers()).isZero();
      assertThat(one.granted).isEmpty();
      held.lift();
      awaitGrant(one);
    }
  }

  @Test
  void claimThatCameWhileNobodySlept_isLookedFor() {
    ManualTime time = new ManualTime();
    try (FaultProxy proxy = proxy();
        LockStore waiting = Heard.open(through(proxy), time);
        JavaProcess first = worker(Urls.of(server));
        JavaProcess second = worker(Urls.of(server))) {
      awaitEars(waiting, first);
      hold(first, "late");
      hold(second, "rings");
      Heard rings = waits(waiting, "rings");
      Fault held = proxy.holdRequest(Trigger.first(MariaDbListenerTest::isSleep));
      release(second);
      awaitGrant(rings);
      Eventually.until(BOUND, "the bell not to sleep", () -> held.timesApplied() > 0);
      Heard late = waits(waiting, "late"); // The sleep that is on its way does not know it.
      release(first);
      assertThat(sleepers()).isZero();
      held.lift();
      awaitSleepers(1);
      Eventually.until(
          BOUND,
          "a grant by looking",
          () -> {
            time.advance(Duration.ofMillis(1)); // Far less than five seconds in all.
            return late.granted.size() == 1;
          });
    }
  }

  @Test
  void bellThatMayNotBeRung_isNotReliedOn() {
    ManualTime time = new ManualTime();
    String app = LeastRights.in(server);
    String admin = Urls.of(server).replaceFirst("/fenceline\\?", "/locks?");
    try (LockStore waiting = Heard.open(admin, time);
        JavaProcess other = worker(app);
        JavaProcess same = worker(admin)) {
      awaitEars(waiting, other);
      hold(other, "denied");
      Heard denied = waits(waiting, "denied");
      release(other);
      Eventually.until(
          BOUND,
          "a grant by looking",
          () -> {
            time.advance(Duration.ofMillis(100));
            return denied.granted.size() == 1;
          });
      assertThat(Heard.isTold(waiting)).isFalse(); // So it looks more often from now on.
      waiting.release(new ReleaseRequest(denied.grant(), Duration.ZERO)).join();

      // The first ring may end a sleep that began by looking, which proves nothing.
      for (int turn = 0; turn < 2; turn++) {
        hold(same, "allowed-" + turn);
        Heard allowed = waits(waiting, "allowed-" + turn);
        release(same);
        awaitGrant(allowed);
        awaitSleepers(1);
      }
      assertThat(Heard.isTold(waiting)).isTrue();
    }
  }

  @Test
  void closing_endsTheConnectionAtOnce_andARestartOfTheServerIsNoticed() throws Exception {
    try (JavaProcess other = worker(Urls.of(server))) {
      long closed;
      try (LockStore waiting = Heard.open(Urls.of(server), new ManualTime())) {
        awaitEars(waiting, other);
        server.restart();
        Eventually.until(BOUND, "the bell again", () -> sleepers() == 1);
        Eventually.until(BOUND, "an answer", () -> answers(waiting));
        Eventually.until(BOUND, "the bell to be heard", () -> Heard.isTold(waiting));
        hold(other, "after-a-restart");
        Heard next = waits(waiting, "after-a-restart");
        release(other);
        awaitGrant(next);
        closed = System.nanoTime();
      }
      awaitSleepers(0);
      assertThat(System.nanoTime() - closed).isLessThan(15_000_000_000L); // It sleeps for thirty.
    }
  }

  /** Whoever is not is taken for forgotten, and asks anew. */
  @Test
  void allWhoAreInAQueue_areAlive() {
    List<String> names = List.of("alive-1", "alive-2", "alive-3");
    try (LockStore store = Heard.open(Urls.of(server), new ManualTime())) {
      names.forEach(name -> new Heard(store, name, Mode.EXCLUSIVE, LEASE));
      List<Owner> owners = names.stream().map(name -> waits(store, name).request.owner()).toList();
      assertThat(Heard.beat(store, owners, names)).containsExactlyInAnyOrderElementsOf(owners);
    }
  }

  private static boolean answers(LockStore store) {
    return store.inspect("any").handle((state, failure) -> failure == null).join();
  }

  /** What a connection may be told to do otherwise. */
  @Test
  void handOver_underSettings() throws Exception {
    for (String setting : new String[] {"useServerPrepStmts=true", "autocommit=false"}) {
      String url = Urls.of(server) + "&" + setting;
      try (Fenceline one = connect(url);
          JavaProcess other = worker(url)) {
        for (int turn = 0; turn < 3; turn++) {
          hold(other, "set");
          var waiting = one.lock("set").acquireAsync(BOUND);
          Eventually.until(BOUND, "it to wait", () -> one.inspect("set").waiters().size() == 1);
          release(other);
          Hold hold = waiting.get();
          assertThat(hold.release()).as(setting).hasToString("RELEASED");
        }
      }
    }
  }

  private static Fenceline connect(String url) {
    return Fenceline.builder()
        .store(url)
        .defaultOptions(LockOptions.defaults().lease(LEASE))
        .connect();
  }
}
