package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.contract.DeadClaims;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** How many statements things cost, counted on the wire. */
@Isolated
class StatementCountTest {
  /** Of a row that was taken the short way, the number is 0, which stands for the last one. */
  private static final String WRONG_NUMBERS =
      "SELECT count(*) FROM fenceline_locks WHERE number NOT IN (0, last_number)";

  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofMinutes(4);

  /** Once, the pool may open another connection meanwhile, which has statements of its own. */
  private static final int ROUNDS = 3;

  private static PostgresServer server;
  private static FaultProxy proxy;

  @BeforeAll
  static void start() {
    server = PostgresServer.builder().fsync(false).start();
    proxy = FaultProxy.to(server.host(), server.port(), Protocol.POSTGRES);
  }

  @AfterAll
  static void stop() {
    proxy.close();
    server.close();
  }

  private static String url() {
    return Urls.of(server).replace(server.address(), proxy.address());
  }

  private static long statements() {
    return proxy.count("Execute") + proxy.count("Query");
  }

  @Test
  void acquireIsOne_releaseIsOne_reentryIsNone() {
    try (Fenceline fenceline = Fenceline.connect(url())) {
      fenceline.lock("warm").tryAcquire().orElseThrow().close();
      long acquire = Long.MAX_VALUE;
      long reentry = Long.MAX_VALUE;
      long release = Long.MAX_VALUE;
      long others = Long.MAX_VALUE;
      for (int i = 0; i < ROUNDS; i++) {
        proxy.resetCounts();
        Hold hold = fenceline.lock("counted-" + i).tryAcquire().orElseThrow();
        acquire = Math.min(acquire, statements());

        proxy.resetCounts();
        hold.reenter().close();
        reentry = Math.min(reentry, statements());

        proxy.resetCounts();
        hold.close();
        release = Math.min(release, statements());

        proxy.resetCounts();
        fenceline.readWriteLock("shared-" + i).readLock().tryAcquire().orElseThrow().close();
        fenceline.semaphore("permits-" + i, 3).tryAcquire().orElseThrow().close();
        others = Math.min(others, statements());
      }
      assertThat(List.of(acquire, reentry, release, others)).containsExactly(1L, 0L, 1L, 4L);
    }
  }

  /** Handing a request over wakes two threads, which costs as much as the request itself. */
  @Test
  void whoeverWaitsForTheAnswer_makesTheRequestItself() throws Exception {
    AtomicInteger handedOver = new AtomicInteger();
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(url())
            .executor(
                task -> {
                  handedOver.incrementAndGet();
                  threads.execute(task);
                })
            .connect()) {
      FencedLock lock = fenceline.lock("own-thread");
      lock.tryAcquire().orElseThrow().release();
      handedOver.set(0);

      lock.tryAcquire().orElseThrow().release();
      lock.acquire().release();
      lock.acquire(BOUND).release();
      assertThat(handedOver).hasValue(0);

      // Its limit may be over before a request can be given up.
      lock.acquire(Duration.ofSeconds(1)).release();
      assertThat(handedOver.getAndSet(0)).isEqualTo(1);
      lock.acquireAsync(BOUND).get().release();
      assertThat(handedOver.getAndSet(0)).isPositive();
      lock.tryAcquire().orElseThrow().releaseAsync().get();
      assertThat(handedOver.get()).isPositive();
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * What a client remembers of a name is a guess; whatever has become of it, the answer is right.
   */
  @Test
  void aNameThatWasAlone_isNoLonger() throws Exception {
    try (Fenceline counted = Fenceline.connect(url());
        Fenceline other = Fenceline.connect(Urls.of(server))) {
      FencedLock lock = counted.lock("quiet");
      lock.tryAcquire().orElseThrow().close();
      Hold again = null;
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < ROUNDS; i++) {
        proxy.resetCounts();
        again = lock.tryAcquire().orElseThrow();
        again.close();
        fewest = Math.min(fewest, statements());
      }
      assertThat(fewest).isEqualTo(2);

      Hold theirs = other.lock("quiet").tryAcquire().orElseThrow();
      assertThat(theirs.token()).isGreaterThan(again.token());
      assertThat(lock.tryAcquire()).isEmpty();
      theirs.close();
      lock.tryAcquire().orElseThrow().close();

      Hold ours = lock.tryAcquire().orElseThrow();
      CompletableFuture<Hold> waits = other.lock("quiet").acquireAsync(BOUND);
      Eventually.until(BOUND, "one to wait", () -> counted.inspect("quiet").waiters().size() == 1);
      proxy.resetCounts();
      ours.close();
      assertThat(statements()).isEqualTo(2); // It is not alone: the second one tells who waits.
      Hold next = waits.get(BOUND.toSeconds(), TimeUnit.SECONDS);
      assertThat(next.token()).isGreaterThan(ours.token());
      next.close();

      lock.tryAcquire().orElseThrow().close();
      assertThat(server.sql("DELETE FROM fenceline_locks WHERE name = 'quiet' RETURNING 1"))
          .isEqualTo("1");
      Hold anew = lock.tryAcquire().orElseThrow();
      assertThat(anew.token()).isGreaterThan(next.token());
      anew.close();
      assertThat(server.sql(WRONG_NUMBERS)).isEqualTo("0");
    }
  }

  @Test
  void renewalOfAHundredHolds_isOne() {
    ManualTime time = new ManualTime();
    StoreContext context =
        new StoreContext(new ClientInfo("test", "host", 1), time, new Random(1), BOUND, BOUND);
    try (LockStore store = JdbcStores.at(url()).open(context)) {
      List<RenewRequest> requests = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        Owner owner = Owner.draw(new Random(i));
        ClaimRequest claim =
            new ClaimRequest("renewed-" + i, owner, Mode.EXCLUSIVE, BOUND, Duration.ZERO, false);
        store.claim(
            claim,
            new GrantOnly(
                grant ->
                    requests.add(new RenewRequest(new HeldGrant(claim, grant.number()), BOUND))));
      }
      assertThat(requests).hasSize(100);
      long fewest = Long.MAX_VALUE;
      for (int i = 0; i < ROUNDS; i++) {
        proxy.resetCounts();
        List<CompletableFuture<Renewal>> answers = store.renew(requests);
        assertThat(answers).allMatch(answer -> answer.join() instanceof Renewal.Renewed);
        fewest = Math.min(fewest, statements());
      }
      assertThat(fewest).isEqualTo(1);
      // The number of a new row's grant is its last number: otherwise the next one would get it,
      // too.
      assertThat(server.sql(WRONG_NUMBERS)).isEqualTo("0");
    }
  }

  @Test
  void claimsOfTheDead_costFewStatements() throws Exception {
    try (Fenceline counted = Fenceline.connect(url());
        Fenceline holder = Fenceline.connect(Urls.of(server));
        Connection connection = DriverManager.getConnection(Urls.of(server))) {
      Hold hold = holder.lock("crowded").tryAcquire().orElseThrow();
      DeadClaims.plant(connection, "fenceline", "crowded", 0, 1L << 31);
      proxy.resetCounts();
      assertThat(counted.lock("crowded").tryAcquire()).isEmpty();
      assertThat(statements()).isLessThan(50);
      hold.close();
    }
  }

  /** 32 callers in four processes: each process has one poller, which mostly reads. */
  @Test
  void waiting_costsFewStatements() {
    List<JavaProcess> workers = new ArrayList<>();
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(Urls.of(server))
            .defaultOptions(LockOptions.defaults().lease(BOUND))
            .connect()) {
      Hold gate = fenceline.lock("gate").tryAcquire().orElseThrow();
      for (int i = 0; i < 4; i++) {
        workers.add(
            JavaProcess.of(Worker.class)
                .argument(url())
                .argument("30000")
                .argument("w" + i)
                .start());
      }
      workers.forEach(worker -> worker.expect("ready", BOUND));
      workers.forEach(worker -> worker.send("wait gate 8"));
      workers.forEach(worker -> worker.expect("waiting", BOUND));
      Eventually.until(
          BOUND, "four to wait", () -> fenceline.inspect("gate").waiters().size() == 4);

      awaitQuiet(); // At first they look more often, until they hear.
      proxy.resetCounts();
      long start = System.nanoTime();
      Eventually.until(BOUND, "ten seconds", () -> System.nanoTime() - start > 10_000_000_000L);
      double seconds = (System.nanoTime() - start) / 1e9;
      double perSecondAndProcess = statements() / seconds / 4;

      System.out.printf(
          "Waiting: %.2f statements per second and process; Spring Integration: 20 writes%n",
          perSecondAndProcess);
      // A sign of life each five seconds, with which they look, and a question whether the
      // connection
      // on which they hear is alive each thirty. The pool asks as often whether its own is.
      assertThat(perSecondAndProcess).isBetween(0.05, 0.6);
      gate.close();
    } finally {
      workers.forEach(JavaProcess::close);
    }
  }

  /** A claim that joined while its process heard; before, it looked after 0.1 s, 0.2 s, … */
  @Test
  void claimThatIsToldForSure_doesNotLook_untilItsSignOfLife() {
    ManualTime time = new ManualTime();
    try (LockStore other = Heard.open(Urls.of(server), time);
        LockStore counted = Heard.open(url(), time)) {
      for (String name : List.of("ears", "told")) {
        assertThat(new Heard(other, name, Mode.EXCLUSIVE, BOUND).granted).hasSize(1);
      }
      Heard first = new Heard(counted, "ears", Mode.EXCLUSIVE, BOUND);
      Eventually.until(BOUND, "ears to hear", () -> Heard.isTold(counted));
      counted.withdraw(first.request).join();
      Heard told = new Heard(counted, "told", Mode.EXCLUSIVE, BOUND);
      assertThat(told.waiting).isOne();
      awaitQuiet();
      proxy.resetCounts();

      time.advance(Duration.ofSeconds(4));
      assertThat(statements()).isZero();
      time.advance(Duration.ofSeconds(2));
      assertThat(statements()).as("a sign of life").isPositive();
    }
  }

  /**
   * On the session that has heard of it: neither the pool nor the listener asks whether it is
   * alive.
   */
  @Test
  void theTurnOfOneThatHasWaitedLong_isOneStatement() {
    ManualTime time = new ManualTime();
    time.jumpWall(Duration.between(Instant.ofEpochMilli(time.wallMillis()), Instant.now()));
    try (LockStore counted = Heard.open(url(), time);
        JavaProcess other =
            JavaProcess.of(Worker.class)
                .argument(Urls.of(server))
                .argument("50000")
                .argument("other")
                .start()) {
      other.expect("ready", BOUND);
      other.send("hold long");
      other.expect("held", BOUND);
      Heard first = new Heard(counted, "long", Mode.EXCLUSIVE, BOUND);
      Eventually.until(BOUND, "ears to hear", () -> Heard.isTold(counted));
      counted.withdraw(first.request).join();
      Heard told = new Heard(counted, "long", Mode.EXCLUSIVE, BOUND);
      assertThat(told.waiting).isOne();
      awaitQuiet();
      proxy.resetCounts();

      other.send("release");
      other.expect("valid=true RELEASED", BOUND);
      Eventually.until(BOUND, "a grant by message", () -> told.granted.size() == 1);
      awaitQuiet();
      assertThat(statements()).isOne();
    }
  }

  /** No statement for a second and a half. */
  private static void awaitQuiet() {
    long[] last = {-1, 0};
    Eventually.until(
        BOUND,
        "those who wait to be quiet",
        () -> {
          long now = System.nanoTime();
          if (statements() != last[0]) {
            last[0] = statements();
            last[1] = now;
          }
          return now - last[1] > 1_500_000_000L;
        });
  }

  /** However many wait: nobody but the one whose turn it is does anything. */
  @Test
  void aHandOver_costsFewStatements_howeverManyWait() throws Exception {
    int clients = 20;
    int turnsOfARound = 10;
    int rounds = 60;
    List<Fenceline> all = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        all.add(
            Fenceline.builder()
                .store(url())
                .connectTimeout(LONG)
                .defaultOptions(LockOptions.defaults().lease(BOUND))
                .connect());
      }
      Hold first = all.get(0).lock("turns").tryAcquire().orElseThrow();
      BlockingQueue<Turn> turns = new LinkedBlockingQueue<>();
      for (Fenceline client : all.subList(1, clients)) {
        queue(client, turns);
      }
      Eventually.until(
          BOUND, "all", () -> all.get(0).inspect("turns").waiters().size() == clients - 1);
      turns.add(new Turn(all.get(0), first));
      // Signs of life of those who wait come meanwhile, too, each five seconds: the slower the
      // machine, the more in a round. They are no part of what a hand-over costs.
      double fewest = Double.MAX_VALUE;
      for (int round = 0; round < rounds && fewest > 4; round++) {
        proxy.resetCounts();
        long start = System.nanoTime();
        for (int i = 0; i < turnsOfARound; i++) {
          Turn turn = turns.poll(LONG.toSeconds(), TimeUnit.SECONDS);
          assertThat(turn).as("the next turn").isNotNull();
          turn.hold.close();
          queue(turn.client, turns); // Behind all others.
        }
        double signsOfLife = clients * (System.nanoTime() - start) / 5e9;
        fewest = Math.min(fewest, (statements() - signsOfLife) / turnsOfARound);
      }
      System.out.printf("A hand-over among %d: %.1f statements%n", clients, fewest);
      // A release, a claim from the queue, and one that goes to its end.
      assertThat(fewest).isBetween(2.0, 4.0);
    } finally {
      all.forEach(Fenceline::close);
    }
  }

  /** A client that has the name. */
  private record Turn(Fenceline client, Hold hold) {}

  private static void queue(Fenceline client, BlockingQueue<Turn> turns) {
    client.lock("turns").acquireAsync(LONG).thenAccept(hold -> turns.add(new Turn(client, hold)));
  }

  /** Hears of grants. */
  private record GrantOnly(java.util.function.Consumer<Grant> heard) implements ClaimHandler {
    @Override
    public void granted(Grant grant) {
      heard.accept(grant);
    }

    @Override
    public void waiting(Obstacle obstacle) {}

    @Override
    public void refused(Obstacle obstacle) {}

    @Override
    public void failed(RuntimeException cause) {
      throw cause;
    }
  }
}
