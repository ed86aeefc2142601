package io.fenceline.jdbc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.Heard;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.jdbc.Urls;
import io.fenceline.jdbc.Worker;
import io.fenceline.jdbc.schema.LeastRights;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Frame;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
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
      awaitQuiet(proxy);
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

  /**
   * Applications of one server share no classes, and two addresses are two stores: both are told.
   */
  @Test
  void waiterOfTheSameProcess_thatOnlyOthersKnow_isRung() {
    String otherAddress = Urls.of(server).replace(server.host(), "localhost");
    try (LockStore waiting = Heard.open(Urls.of(server), new ManualTime());
        LockStore holding = Heard.open(otherAddress, new ManualTime())) {
      awaitEars(waiting, holding);
      Heard held = new Heard(holding, "neighbours", Mode.EXCLUSIVE, LEASE);
      Heard next = waits(waiting, "neighbours");
      holding.release(new ReleaseRequest(held.grant(), Duration.ZERO)).join();
      awaitGrant(next);
      waiting.release(new ReleaseRequest(next.grant(), Duration.ZERO)).join();
    }
  }

  /** As above, where the other one is of this process. */
  private static void awaitEars(LockStore store, LockStore other) {
    Heard held = new Heard(other, "ears", Mode.EXCLUSIVE, LEASE);
    Heard first = waits(store, "ears");
    Eventually.until(BOUND, "the bell", () -> Heard.isTold(store));
    awaitSleepers(1);
    store.withdraw(first.request).join();
    other.release(new ReleaseRequest(held.grant(), Duration.ZERO)).join();
  }

  /** For up to ten seconds it is the turn of one that does nothing. */
  @Test
  void nameWhoseNextOneStandsStill_letsOthersSleep() {
    try (FaultProxy proxy = proxy();
        LockStore waiting = Heard.open(through(proxy), new ManualTime());
        JavaProcess first = worker(Urls.of(server));
        JavaProcess second = worker(Urls.of(server));
        JavaProcess still = worker(Urls.of(server))) {
      awaitEars(waiting, first);
      hold(first, "orphan");
      hold(second, "bystander");
      Heard bystander = waits(waiting, "bystander");
      still.send("wait orphan 1");
      still.expect("waiting", BOUND);
      awaitWaiter("orphan");
      awaitSleepers(2);
      still.pause();
      Heard behind = waits(waiting, "orphan");
      release(first);
      awaitSleepers(1); // Its own ended, and it can't begin another.
      proxy.resetCounts();
      release(second);
      awaitGrant(bystander);
      awaitSleepers(1);
      System.out.printf("Beside one that stands still: %s%n", proxy.counts());
      assertThat(proxy.count("Query")).isLessThan(10);
      still.kill();
      waiting.withdraw(behind.request).join();
      waiting.release(new ReleaseRequest(bystander.grant(), Duration.ZERO)).join();
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

  /** One process waits for several names: a ring does not say which of them is meant. */
  @Test
  void ringForOneOfSeveralNames_isFoundOutByOneLook() {
    List<String> names = List.of("one-of-1", "one-of-2", "one-of-3", "one-of-4");
    try (FaultProxy proxy = proxy();
        LockStore holding = Heard.open(Urls.of(server), new ManualTime());
        JavaProcess other = worker(through(proxy))) {
      List<Heard> held =
          names.stream().map(name -> new Heard(holding, name, Mode.EXCLUSIVE, LEASE)).toList();
      long fewest = Long.MAX_VALUE;
      for (String name : names) {
        other.send("wait " + name + " 1");
        other.expect("waiting", BOUND);
        awaitWaiter(name);
      }
      awaitSleepers(1);
      awaitQuiet(proxy);
      System.out.println("SLEEPERS " + sleepers());
      server.sql("SET GLOBAL log_output='TABLE'; SET GLOBAL general_log=1");
      for (Heard one : held.subList(0, 3)) {
        proxy.resetCounts();
        System.out.println("RELEASE " + java.time.Instant.now());
        holding.release(new ReleaseRequest(one.grant(), Duration.ZERO)).join();
        Eventually.until(BOUND, "its turn to be over", () -> isAlone(one.request.name()));
        System.out.println(
            "ALONE " + java.time.Instant.now() + proxy.counts() + " sleepers " + sleepers());
        awaitSleepers(1);
        System.out.println("SLEEPS " + java.time.Instant.now() + proxy.counts());
        awaitQuiet(proxy);
        fewest = Math.min(fewest, proxy.count("Query"));
        System.out.printf("One of several names: %s%n", proxy.counts());
      }
      System.out.println(
          server.sql(
              "SET GLOBAL general_log=0; SELECT event_time, thread_id, REPLACE(LEFT(argument,70),'\\n',' ') FROM mysql.general_log WHERE argument NOT LIKE '%PROCESSLIST%' ORDER BY event_time LIMIT 150"));
      assertThat(fewest).isLessThan(8);
      holding.release(new ReleaseRequest(held.get(3).grant(), Duration.ZERO)).join();
    }
  }

  /** Whether nobody holds a name, and nobody waits for it. */
  private static boolean isAlone(String name) {
    String rows = "SELECT owner IS NULL AND others = 0 FROM fenceline_locks WHERE name = '";
    return server.sql(rows + name + "'").equals("1");
  }

  private static void awaitQuiet(FaultProxy proxy) {
    long[] start = {System.nanoTime(), 0};
    Eventually.until(
        BOUND,
        "those who have come last to be quiet",
        () -> {
          start[0] = proxy.count("Query") == start[1] ? start[0] : System.nanoTime();
          start[1] = proxy.count("Query");
          return System.nanoTime() - start[0] > 1_500_000_000L;
        });
  }

  /** Whoever gets it next must not be taken for the bell, and its statements be ended. */
  @Test
  void connectionOfAPool_thatNoLongerListens_isNobodysBell() throws Exception {
    String bell = "CONCAT('fl.', LEFT(SHA2('fenceline pooled 1@host', 256), 40))";
    AtomicBoolean broken = new AtomicBoolean();
    try (HikariDataSource pool = pool();
        HikariDataSource listening = pool();
        LockStore store = open(JdbcStores.from(pool).listening(breaking(listening, broken)));
        LockStore holding = open(JdbcStores.from(pool))) {
      new Heard(holding, "pooled", Mode.EXCLUSIVE, LEASE);
      waits(store, "pooled");
      Eventually.until(BOUND, "the bell", () -> Heard.isTold(store));
      awaitSleepers(1);
      assertThat(server.sql("SELECT IS_USED_LOCK(" + bell + ")")).isNotEqualTo("NULL");
      broken.set(true);
      server.sql("KILL QUERY IS_USED_LOCK(" + bell + ")");
      Eventually.until(
          BOUND,
          "the pool to have it back",
          () -> listening.getHikariPoolMXBean().getActiveConnections() == 0);
      try (Connection next = listening.getConnection();
          Statement asking = next.createStatement();
          ResultSet limit = asking.executeQuery("SELECT @@max_statement_time")) {
        assertThat(limit.next()).isTrue();
        assertThat(limit.getInt(1)).as("the pool's own setting").isEqualTo(100);
        Eventually.until(
            BOUND,
            "nobody to be the bell",
            () -> server.sql("SELECT IS_USED_LOCK(" + bell + ")").equals("NULL"));
      }
    }
  }

  private static LockStore open(JdbcStores stores) {
    StoreContext context =
        new StoreContext(
            new ClientInfo("test", "host", 1), new ManualTime(), new Random(31), BOUND, BOUND);
    return stores.tablePrefix("pooled").open(context);
  }

  private static HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(Urls.of(server));
    config.setMaximumPoolSize(2);
    config.setMinimumIdle(0);
    config.setConnectionInitSql("SET SESSION max_statement_time = 100");
    return new HikariDataSource(config);
  }

  /** A single connection of a pool, on which statements fail from some time on. */
  private static DataSource breaking(DataSource pool, AtomicBoolean broken) {
    AtomicBoolean given = new AtomicBoolean();
    return proxy(
        DataSource.class,
        pool,
        (name, result) -> {
          if (given.getAndSet(true)) {
            throw new SQLException("no more of them");
          }
          return proxy(
              Connection.class,
              result.call(),
              (called, answer) -> {
                if (broken.get() && called.equals("prepareStatement")) {
                  throw new SQLException("as if a table were missing");
                }
                return answer.call();
              });
        });
  }

  @FunctionalInterface
  private interface Passing {
    Object pass(String method, Callable<Object> call) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Object target, Passing passing) {
    return type.cast(
        Proxy.newProxyInstance(
            MariaDbListenerTest.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return passing.pass(method.getName(), () -> method.invoke(target, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  /**
   * Ids are those of one server: whoever ends its own connection by its id, over a new one, may end
   * a stranger's where a balancer stands before several servers.
   */
  @Test
  void closing_behindABalancer_endsNobodyElsesConnection() throws Exception {
    try (MariaDbServer elsewhere = MariaDbServer.start();
        Balancer balancer = new Balancer(server);
        LockStore holding = Heard.open(Urls.of(server), new ManualTime())) {
      String url = Urls.of(server).replace(server.address(), balancer.address());
      Connection stranger;
      long id;
      try (LockStore waiting = Heard.open(url, new ManualTime())) {
        awaitEars(waiting, holding);
        id =
            Long.parseLong(
                server.sql(
                    "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'"));
        stranger = connectionWithId(Urls.of(elsewhere), id);
        balancer.target = elsewhere;
      }
      Eventually.until(BOUND, "it to have been elsewhere", () -> balancer.elsewhere.get() > 0);
      Eventually.until(BOUND, "it to have left", () -> connections(elsewhere) <= 1);
      server.sql("KILL " + id); // It would sleep on for up to thirty seconds.
      assertThat(stranger.isValid(10)).as("the stranger's connection").isTrue();
      stranger.close();
    }
  }

  private static Connection connectionWithId(String url, long id) throws SQLException {
    while (true) {
      Connection connection = DriverManager.getConnection(url);
      long found;
      try (Statement asking = connection.createStatement();
          ResultSet row = asking.executeQuery("SELECT CONNECTION_ID()")) {
        row.next();
        found = row.getLong(1);
      }
      if (found == id) {
        return connection;
      }
      connection.close();
      assertThat(found).as("ids rise").isLessThan(id);
    }
  }

  /** Those of our user, but for the one that asks. */
  private static int connections(MariaDbServer at) {
    return Integer.parseInt(
        at.sql(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()"
                + " AND USER = '"
                + at.user()
                + "'"));
  }

  /** Passes each new connection on to the server of the moment. */
  private static final class Balancer implements AutoCloseable {
    private final ServerSocket accepting;
    private final AtomicInteger elsewhere = new AtomicInteger();
    private final MariaDbServer first;
    private volatile MariaDbServer target;

    Balancer(MariaDbServer first) throws IOException {
      this.first = first;
      this.target = first;
      this.accepting = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
      started(this::accept);
    }

    String address() {
      return "127.0.0.1:" + accepting.getLocalPort();
    }

    private void accept() {
      while (!accepting.isClosed()) {
        try {
          Socket client = accepting.accept();
          MariaDbServer to = target;
          Socket passed = new Socket(to.host(), to.port());
          started(() -> pass(client, passed));
          started(() -> pass(passed, client));
          if (to != first) {
            elsewhere.incrementAndGet();
          }
        } catch (IOException e) {
          // It is closed.
        }
      }
    }

    private static void pass(Socket from, Socket to) {
      try (from;
          to) {
        from.getInputStream().transferTo(to.getOutputStream());
      } catch (IOException e) {
        // One of them has ended, and so has the other.
      }
    }

    private static void started(Runnable task) {
      Thread thread = new Thread(task, "balancer");
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public void close() throws IOException {
      accepting.close();
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
