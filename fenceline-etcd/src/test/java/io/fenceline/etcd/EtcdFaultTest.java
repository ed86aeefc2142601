package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.ReentrantFencedLock;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import io.fenceline.event.LossReason;
import io.fenceline.event.Lost;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Frame;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testkit.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Faults between a client and one server; each test shows that its fault has struck. */
@Execution(ExecutionMode.CONCURRENT)
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdFaultTest {
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(LEASE);

  /** Two leases of doubt, half of one until the next list, and a timeout. */
  private static final int GIVEN_UP_LEASES = 4;

  private static EtcdServer etcd;
  private final String root = "/faults-" + Long.toHexString(ThreadLocalRandom.current().nextLong());
  private FaultProxy proxy;
  private Fenceline faulty;
  private Fenceline other;
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @BeforeAll
  static void start() {
    etcd = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
  }

  @AfterAll
  static void stop() {
    Eventually.until(
        BOUND, "no lease to be left", () -> etcd.etcdctl("lease", "list").contains("found 0"));
    etcd.close();
  }

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
    faulty = client("faulty", proxy.address());
    other = client("other", etcd.address());
  }

  @AfterEach
  void close() {
    proxy.heal();
    faulty.close();
    other.close();
    proxy.close();
    Eventually.until(BOUND, "no key to be left", () -> keys("").isEmpty());
  }

  private Fenceline client(String label, String address) {
    return Fenceline.builder()
        .store("etcd://" + address + root)
        .label(label)
        .defaultOptions(OPTIONS)
        .connectTimeout(BOUND)
        .operationTimeout(Duration.ofSeconds(3))
        .listener(
            new LockListener() {
              @Override
              public void on(LockEvent event) {
                events.add(event);
              }
            })
        .connect();
  }

  private String keys(String name) {
    return etcd.etcdctl("get", "--prefix", "--keys-only", root + "/lock/" + name);
  }

  private String leaseOf(String name) {
    String key = keys(name).strip();
    return key.substring(key.lastIndexOf('!') + 1, key.lastIndexOf('-'));
  }

  private void awaitWaiters(String name, int count) {
    Eventually.until(
        BOUND, count + " waiters", () -> other.inspect(name).waiters().size() == count);
  }

  @Test
  void aRevokedLeaseIsALoss_reentryFails_andTheNextTokenIsLarger() throws Exception {
    ReentrantFencedLock lock = faulty.lock("revoked").asReentrantLock();
    CountDownLatch revoked = new CountDownLatch(1);
    CompletableFuture<Long> token = new CompletableFuture<>();
    CompletableFuture<Throwable> reentry = new CompletableFuture<>();
    Thread holder =
        new Thread(
            () -> {
              lock.lock();
              token.complete(lock.token());
              try {
                revoked.await();
                lock.lock();
                reentry.complete(new AssertionError("entered again"));
              } catch (RuntimeException | InterruptedException e) {
                reentry.complete(e);
              }
            });
    holder.start();
    long first = token.get(20, TimeUnit.SECONDS);

    assertThat(etcd.etcdctl("lease", "revoke", leaseOf("revoked"))).contains("revoked");
    Eventually.until(
        BOUND,
        "the loss to be signalled",
        () -> events.stream().anyMatch(e -> e instanceof Lost lost && lost.token() == first));
    Lost lost = (Lost) events.stream().filter(Lost.class::isInstance).findFirst().orElseThrow();
    assertThat(lost.reason()).isEqualTo(LossReason.GONE);
    assertThat(lost.sinceRenewal()).isLessThan(LEASE);
    revoked.countDown();
    assertThat(reentry.get(20, TimeUnit.SECONDS)).isInstanceOf(LockLostException.class);
    try (Hold next = other.lock("revoked").acquire(BOUND)) {
      assertThat(next.token()).isGreaterThan(first);
    }
    try (Hold again = faulty.lock("revoked").acquire(BOUND)) {
      assertThat(again.isValid()).isTrue();
    }
  }

  @Test
  void aClaimWhoseReplyIsLost_isGrantedOnce_andItsSlotIsNotUsedAgain() throws Exception {
    faulty.lock("warm").acquire(BOUND).close();
    Fault lost = proxy.cutBeforeReply(Trigger.first(frame -> frame.contains("lock/unheard!")));
    Hold hold = faulty.lock("unheard").acquire(BOUND);
    assertThat(lost.timesApplied()).isEqualTo(1);
    assertThat(keys("unheard!")).endsWith("-0");
    assertThat(other.lock("unheard").tryAcquire()).isEmpty();
    hold.release();
    assertThat(keys("unheard!")).isEmpty();
    try (Hold next = faulty.lock("unheard").acquire(BOUND)) {
      assertThat(next.token()).isGreaterThan(hold.token());
      assertThat(keys("unheard!")).as("the doubtful slot is left alone").endsWith("-1");
    }
  }

  @Test
  void aWaitingClaimWhoseLooksFailTwiceInARow_isGrantedAtItsTurn() throws Exception {
    faulty.lock("warm").acquire(BOUND).close();
    Hold hold = other.lock("unseen").acquire(BOUND);
    // The claim is put, unheard; sent again, it finds its key and looks. A look has no label in it.
    Fault lost = proxy.cutBeforeReply(Trigger.first(frame -> frame.contains("lock/unseen!")));
    Predicate<Frame> look = f -> f.contains("lock/unseen!") && !f.contains("faulty");
    Fault first = proxy.cutRequest(Trigger.first(look));
    Fault second = proxy.cutRequest(Trigger.nth(2, look));
    CompletableFuture<Hold> waiting = faulty.lock("unseen").acquireAsync(BOUND);
    Eventually.until(
        BOUND,
        "two looks to be cut, unless the hold is lost",
        () -> !hold.isValid() || second.timesApplied() == 1);
    assertThat(hold.isValid()).as("not lost by load").isTrue();
    assertThat(lost.timesApplied()).isEqualTo(1);
    assertThat(first.timesApplied()).isEqualTo(1);
    proxy.heal();

    hold.release();

    Hold granted = waiting.get(20, TimeUnit.SECONDS);
    assertThat(granted.token()).isGreaterThan(hold.token());
    granted.release();
  }

  @Test
  void aTryWhoseReplyIsSwallowed_fails_andIsUndone() {
    faulty.lock("warm").tryAcquire().orElseThrow().release();
    Fault lost = proxy.dropReply(Trigger.first(frame -> frame.contains("lock/swallowed!")));
    CompletableFuture<?> trying = faulty.lock("swallowed").tryAcquireAsync();
    // On a busy machine it may be undone before anyone sees it held: the dropped reply tells, too.
    Eventually.until(
        BOUND,
        "the server to do it",
        () -> lost.timesApplied() > 0 || !other.inspect("swallowed").holders().isEmpty());
    assertThatThrownBy(trying::join).hasCauseInstanceOf(StoreUnavailableException.class);
    assertThat(lost.timesApplied()).isPositive();
    lost.lift();
    Eventually.until(BOUND, "the undo", () -> keys("swallowed!").isEmpty());
    Hold hold = other.lock("swallowed").tryAcquire().orElseThrow();
    hold.release();
  }

  @Test
  void aReleaseWhoseReplyIsLost_leavesTheNextHolderAlone() throws Exception {
    Hold hold = faulty.lock("given").acquire(BOUND);
    Fault lost = proxy.cutBeforeReply(Trigger.first(frame -> frame.contains("lock/given!")));
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
    assertThat(lost.timesApplied()).isEqualTo(1);
    try (Hold next = other.lock("given").acquire(BOUND)) {
      Eventually.until(
          BOUND,
          "the repeated release to be answered",
          () -> faulty.lock("probe").tryAcquire().map(Hold::release).isPresent());
      assertThat(next.isValid()).isTrue();
      assertThat(faulty.lock("given").tryAcquire()).isEmpty();
    }
  }

  @Test
  void keepAliveStreamsThatAreCut_areOpenedAgain_andTheHoldStays() throws Exception {
    Hold hold = faulty.lock("cut").acquire(BOUND);
    long before = etcd.rpcCount("LeaseKeepAlive");
    int cut = 0;
    for (int i = 0; i < 12; i++) {
      cut += proxy.closeAll();
      long start = System.nanoTime();
      Eventually.until(
          BOUND, "a while to pass", () -> System.nanoTime() - start > LEASE.toNanos() / 6);
    }
    assertThat(cut).isGreaterThan(5);
    assertThat(etcd.rpcCount("LeaseKeepAlive")).isGreaterThan(before + 3);
    assertThat(hold.isValid()).isTrue();
    hold.release();
  }

  @Test
  void aConnectionThatIsStuckWithClaims_doesNotEndAHold() throws Exception {
    Hold hold = faulty.lock("kept").acquire(BOUND);
    // What follows on the connection of such a claim is lost, too.
    Fault stuck = proxy.dropReply(Trigger.every(frame -> frame.contains("lock/stuck!")));
    long start = System.nanoTime();
    int unanswered = 0;
    while (System.nanoTime() - start < LEASE.toNanos() * 5 / 4) {
      assertThatThrownBy(() -> faulty.lock("stuck").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class);
      unanswered++;
    }
    assertThat(unanswered).isPositive();
    assertThat(stuck.timesApplied()).isPositive();
    assertThat(hold.isValid()).isTrue();
    stuck.lift();
    hold.release();
  }

  @Test
  void aServerThatIsNotHeard_isALossAtTheLocalDeadline_beforeTheServersOwn() throws Exception {
    Hold hold = faulty.lock("silent").acquire(BOUND);
    CompletableFuture<Lost> loss = hold.lost();
    assertThat(hold.isValid()).isTrue();
    Fault hole = proxy.blackHole(Direction.BOTH);
    CompletableFuture<Hold> next = other.lock("silent").acquireAsync(BOUND);
    // By the clock, not by who is told first: a machine that stands still may tell both at once.
    CompletableFuture<Boolean> beside = next.thenApply(granted -> hold.isValid());
    Lost lost = loss.get(40, TimeUnit.SECONDS);
    assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    assertThat(hole.timesApplied()).isPositive();
    Hold taken = next.get(40, TimeUnit.SECONDS);
    assertThat(beside.get(40, TimeUnit.SECONDS)).as("valid when the next was granted").isFalse();
    assertThat(taken.token()).isGreaterThan(hold.token());
    taken.release();
    hole.lift();
    faulty.lock("silent").acquire(BOUND).close();
  }

  /**
   * Leaves a claim in doubt, and then the client without the server until its session is given up.
   *
   * @return false if that began too late
   */
  private boolean isGivenUp(String name, LockOptions options, Duration lease) {
    Fault lost = proxy.dropReply(Trigger.first(frame -> frame.contains("lock/" + name + "!")));
    assertThatThrownBy(() -> faulty.lock(name, options).tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    long failed = System.nanoTime();
    assertThat(lost.timesApplied()).isPositive();
    lost.lift();
    Eventually.until(BOUND, "the undo", () -> keys(name + "!").isEmpty());
    // From here on a key may turn up that nobody stands for; but the keys can't be listed.
    try (Fault refusing = proxy.refuseConnections()) {
      proxy.closeAll();
      long start = System.nanoTime();
      if (start - failed > lease.toNanos() / 2) {
        return false;
      }
      Eventually.until(
          BOUND,
          "the session to be given up",
          () -> System.nanoTime() - start > GIVEN_UP_LEASES * lease.toNanos());
      assertThat(refusing.timesApplied()).isPositive();
      return true;
    }
  }

  @Test
  void aSessionThatWasGivenUp_isNotUsedAgain() throws Exception {
    // The lease of the server outlives the outage by far, so that the session could be used again.
    Duration lease = LEASE.dividedBy(2);
    LockOptions delayed =
        LockOptions.defaults().lease(lease).lockDelay(lease.multipliedBy(GIVEN_UP_LEASES + 2));
    String givenUp;
    try (Hold first = faulty.lock("given-up-0", delayed).acquire(BOUND)) {
      givenUp = leaseOf("given-up-0!");
      assertThat(first.isValid()).isTrue();
    }
    // Once the keys were listed a lease later, nothing is in doubt any more. Then it begins anew.
    boolean inDoubt = false;
    for (int tries = 1; !inDoubt; tries++) {
      assertThat(tries).as("tries to cut it off within a lease").isLessThanOrEqualTo(10);
      inDoubt = isGivenUp("given-up-1-" + tries, delayed, lease);
    }

    Hold hold = faulty.lock("given-up-2", delayed).acquire(BOUND);
    assertThat(leaseOf("given-up-2!")).as("on a session that is kept alive").isNotEqualTo(givenUp);
    Eventually.until(
        BOUND,
        "the lease that was given up to end",
        () -> !etcd.etcdctl("lease", "list").contains(givenUp));
    hold.release();
    other.lock("given-up-2").acquire(BOUND).close();
  }

  @Test
  void aWaiterWhoseWatchIsCut_andWhoseRevisionIsCompacted_isGranted() throws Exception {
    Hold hold = other.lock("compacted").acquire(BOUND);
    CompletableFuture<Hold> waiting = faulty.lock("compacted").acquireAsync(BOUND);
    Eventually.until(
        BOUND,
        "a waiter, unless the hold is lost",
        () -> !hold.isValid() || other.inspect("compacted").waiters().size() == 1);
    assertThat(hold.isValid()).as("not lost by load").isTrue();
    Fault refusing = proxy.refuseConnections();
    Eventually.until(
        BOUND,
        "all connections to be cut",
        () -> {
          proxy.closeAll();
          return proxy.connections() == 0;
        });
    hold.release();
    String put = etcd.etcdctl("put", "elsewhere", "1", "-w", "json");
    String revision = put.replaceAll(".*\"revision\":([0-9]+).*", "$1");
    assertThat(etcd.etcdctl("compact", revision)).contains("compacted revision " + revision);
    assertThat(waiting).isNotDone();
    refusing.lift();
    Hold granted = waiting.get(40, TimeUnit.SECONDS);
    assertThat(refusing.timesApplied()).isPositive();
    assertThat(granted.token()).isGreaterThan(hold.token());
    granted.release();
  }

  @Test
  void aWatchThatHasBegunAfterWhatWasSeen_callsBack() throws Exception {
    String put = etcd.etcdctl("put", "elsewhere", "2", "-w", "json");
    long seen = Long.parseLong(put.replaceAll(".*\"revision\":([0-9]+).*", "$1"));
    etcd.etcdctl("put", "elsewhere", "3");
    StoreAddress address = StoreAddress.parse("etcd://" + etcd.address());
    CountDownLatch called = new CountDownLatch(1);
    // A store of its own has the time, the random numbers and the client that a watch needs.
    try (Fenceline client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      EtcdClient direct =
                          new EtcdClient(
                              context,
                              "test",
                              () -> EtcdAddress.of(address).connect(context),
                              true);
                      ByteSequence key = ByteSequence.from("nothing", StandardCharsets.UTF_8);
                      new KeyWatch(direct, key, Map.of(key, 1), 0, seen, end -> called.countDown())
                          .open();
                      return StoreOpener.open(direct, "/elsewhere");
                    })
            .connect()) {
      assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(client.store()).isEqualTo("test");
    }
  }

  @Test
  void aClientThatIsStoppedPastItsLease_knowsThatItHasLost() throws Exception {
    try (JavaProcess worker =
        JavaProcess.of(EtcdWorker.class)
            .argument("etcd://" + etcd.address() + root)
            .argument("stopped")
            .start()) {
      long token = Long.parseLong(worker.expect("token ", BOUND).substring(6));
      worker.pause();
      assertThat(worker.state()).isEqualTo(ProcessState.STOPPED);
      try (Hold next = other.lock("stopped").acquire(BOUND)) {
        assertThat(next.token()).isGreaterThan(token);
        worker.resume();
        worker.send("valid?");
        assertThat(worker.expectAll(BOUND, "valid ", "lost "))
            .containsExactly("valid false", "lost EXPIRED");
        worker.send("release");
        assertThat(worker.expect("released ", BOUND)).isEqualTo("released ALREADY_LOST");
        assertThat(next.isValid()).isTrue();
      }
    }
  }
}
