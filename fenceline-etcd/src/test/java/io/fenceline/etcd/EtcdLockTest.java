package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencedLock;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.Fenceline;
import io.fenceline.HandOff;
import io.fenceline.Hold;
import io.fenceline.InvalidSettingException;
import io.fenceline.LockOptions;
import io.fenceline.LockReport;
import io.fenceline.LockTimeoutException;
import io.fenceline.ModeConflictException;
import io.fenceline.PermitHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.testkit.proxy.FaultProxy;
import io.fenceline.testkit.proxy.Protocol;
import io.fenceline.testkit.proxy.Trigger;
import io.fenceline.testkit.server.EtcdServer;
import io.fenceline.testkit.server.Eventually;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is etcd's own, beyond the contract: requests counted at the server, keys, sessions. */
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdLockTest {
  private static final Duration BOUND = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(3));

  private static EtcdServer etcd;
  private Fenceline a;
  private Fenceline b;

  @BeforeAll
  static void start() {
    etcd = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
  }

  @AfterAll
  static void stop() {
    etcd.close();
  }

  @BeforeEach
  void connect() {
    a = client("a");
    b = client("b");
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    assertThat(etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/")).isEmpty();
  }

  private static Fenceline client(String label) {
    return client(label, etcd.address());
  }

  private static Fenceline client(String label, String address) {
    return Fenceline.builder()
        .store("etcd://" + address)
        .label(label)
        .defaultOptions(OPTIONS)
        .connect();
  }

  private static void warm(Fenceline client) {
    client.lock("warm").tryAcquire().orElseThrow().release();
  }

  @Test
  void anUncontendedCycleIsATransactionAndADelete_andNothingElse() throws InterruptedException {
    warm(a);
    long txns = etcd.rpcCount("Txn");
    long deletes = etcd.rpcCount("DeleteRange");
    long others = etcd.rpcCount("Range") + etcd.rpcCount("LeaseGrant") + etcd.rpcCount("Watch");
    try (Hold hold = a.lock("counted").acquire(BOUND)) {
      assertThat(etcd.rpcCount("Txn") - txns).isEqualTo(1);
      assertThat(hold.isValid()).isTrue();
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
    assertThat(etcd.rpcCount("Txn") - txns).isEqualTo(1);
    assertThat(etcd.rpcCount("DeleteRange") - deletes).isEqualTo(1);
    assertThat(etcd.rpcCount("Range") + etcd.rpcCount("LeaseGrant") + etcd.rpcCount("Watch"))
        .isEqualTo(others);
  }

  @Test
  void theTokenIsTheCreateRevisionOfTheKey() throws InterruptedException {
    try (Hold hold = a.lock("token").acquire(BOUND)) {
      String json = etcd.etcdctl("get", "--prefix", "/fenceline/lock/token!", "-w", "json");
      assertThat(json).contains("\"create_revision\":" + (hold.token() >> 8) + ",");
    }
  }

  @Test
  void manyCyclesOfOneName_useOneKey_andTheLastCostWhatTheFirstDid() throws InterruptedException {
    Set<String> used = new ConcurrentSkipListSet<>();
    Pattern key = Pattern.compile("/lock/cycled!([0-9a-f]+-[0-9]+)");
    try (FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
        Fenceline cycling = client("cycling", proxy.address())) {
      watch(proxy, frame -> key.matcher(frame).results().forEach(m -> used.add(m.group(1))));
      warm(cycling);
      long last = 0;
      long[] cost = new long[4];
      for (int part = 0; part < cost.length; part++) {
        long before = etcd.rpcCount("Txn") + etcd.rpcCount("DeleteRange");
        for (int i = 0; i < 100; i++) {
          try (Hold hold = cycling.lock("cycled").acquire(BOUND)) {
            assertThat(hold.token()).isGreaterThan(last);
            last = hold.token();
          }
        }
        cost[part] = etcd.rpcCount("Txn") + etcd.rpcCount("DeleteRange") - before;
      }
      assertThat(used)
          .as("a new key leaves a tombstone that every later read walks over")
          .hasSize(1);
      assertThat(cost).containsOnly(200);
    }
  }

  /** Shows what a client sends, in the bytes that it has on the wire. */
  private static void watch(FaultProxy proxy, Consumer<String> seen) {
    proxy.cutRequest(
        Trigger.every(
            frame -> {
              seen.accept(frame.text());
              return false;
            }));
  }

  @Test
  void aHandOverNeedsNoLookAtTheQueue_howeverManyWait() throws Exception {
    LockOptions patient = LockOptions.defaults().lease(Duration.ofSeconds(20)); // no polls
    AtomicInteger looks = new AtomicInteger();
    List<Fenceline> clients = new ArrayList<>();
    try (FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2)) {
      // Whoever reads all claims of a name says where its keys end: behind the mark.
      watch(proxy, frame -> looks.addAndGet(frame.contains("/lock/line\"") ? 1 : 0));
      Hold hold = a.lock("line", patient).acquire(BOUND);
      List<CompletableFuture<Hold>> waiting = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        clients.add(client("waiter-" + i, proxy.address()));
        waiting.add(clients.get(i).lock("line", patient).acquireAsync(BOUND));
        awaitWaiters("line", i + 1);
      }
      assertThat(looks).as("each claim reads the queue that it joins").hasValue(5);

      waiting.remove(3).cancel(false);
      awaitWaiters("line", 4);
      Eventually.until(BOUND, "the one behind to look", () -> looks.get() == 6);
      hold.release();
      for (CompletableFuture<Hold> next : waiting) {
        Hold granted = next.get(20, TimeUnit.SECONDS);
        assertThat(granted.token()).isGreaterThan(hold.token());
        hold = granted;
        hold.release();
      }
      // One more if the release came before the new watch of the one that has just looked.
      assertThat(looks.get()).as("whose turn it is, needs no reading").isBetween(6, 7);
      clients.forEach(Fenceline::close);
    }
  }

  @Test
  void aWaiterIsWokenByTheEndOfItsPredecessor_inOrder() throws Exception {
    Fenceline c = client("c");
    try (c) {
      Hold first = a.lock("queue").acquire(BOUND);
      CompletableFuture<Hold> second = b.lock("queue").acquireAsync(BOUND);
      awaitWaiters("queue", 1);
      CompletableFuture<Hold> third = c.lock("queue").acquireAsync(BOUND);
      awaitWaiters("queue", 2);
      assertThat(a.lock("queue").tryAcquire()).isEmpty();

      first.release();
      Hold two = second.get(20, TimeUnit.SECONDS);
      assertThat(third).isNotDone();
      assertThat(two.token()).isGreaterThan(first.token());
      two.release();
      Hold three = third.get(20, TimeUnit.SECONDS);
      assertThat(three.token()).isGreaterThan(two.token());
      three.release();
    }
  }

  private void awaitWaiters(String name, int count) {
    Eventually.until(BOUND, count + " waiters", () -> a.inspect(name).waiters().size() == count);
  }

  @Test
  void aWaiterWhoseTimeIsOver_leavesTheQueue_andSaysWhoHolds() throws InterruptedException {
    try (Hold hold = a.lock("busy").acquire(BOUND)) {
      assertThatThrownBy(() -> b.lock("busy").acquire(Duration.ofMillis(300)))
          .isInstanceOf(LockTimeoutException.class)
          .hasMessageContaining("holder=a")
          .hasMessageContaining(Long.toString(hold.token()));
      Eventually.until(BOUND, "the queue to be empty", () -> a.inspect("busy").waiters().isEmpty());
    }
  }

  @Test
  void inspectionShowsHoldersAndWaiters() throws Exception {
    try (Hold hold = a.lock("seen").acquire(BOUND)) {
      CompletableFuture<Hold> waiting = b.lock("seen").acquireAsync(BOUND);
      awaitWaiters("seen", 1);
      LockReport report = b.inspect("seen");
      assertThat(report.holders()).hasSize(1);
      assertThat(report.holders().get(0).token()).isEqualTo(hold.token());
      assertThat(report.holders().get(0).label()).isEqualTo("a");
      assertThat(report.holders().get(0).remaining())
          .isBetween(Duration.ofMillis(1), Duration.ofSeconds(3));
      assertThat(report.waiters().get(0).label()).isEqualTo("b");
      waiting.cancel(false);
      awaitWaiters("seen", 0);
    }
  }

  @Test
  void listingIsInByteOrderAndBounded() throws InterruptedException {
    List<String> names = List.of("l/a", "l/a b", "l/a!", "l/a\"x", "l/a-b", "l/a/b", "l/ä", "m");
    List<Hold> holds = new ArrayList<>();
    for (String name : names) {
      holds.add(a.lock(name).acquire(BOUND));
    }
    assertThat(b.list("l/", 100).stream().map(LockReport::name))
        .containsExactlyElementsOf(names.subList(0, 7));
    assertThat(b.list("l/", 3).stream().map(LockReport::name))
        .containsExactlyElementsOf(names.subList(0, 3));
    holds.forEach(Hold::release);
  }

  @Test
  void readersShareAndAWriterWaitsForAllOfThem() throws Exception {
    FencedReadWriteLock ofA = a.readWriteLock("book");
    FencedReadWriteLock ofB = b.readWriteLock("book");
    Hold one = ofA.readLock().acquire(BOUND);
    Hold two = ofB.readLock().acquire(BOUND);
    CompletableFuture<Hold> writer = ofA.writeLock().acquireAsync(BOUND);
    awaitWaiters("book", 1);
    assertThat(ofB.readLock().tryAcquire()).as("a reader behind a writer").isEmpty();
    one.release();
    two.release();
    Hold write = writer.get(20, TimeUnit.SECONDS);
    assertThat(write.token()).isGreaterThan(Math.max(one.token(), two.token()));
    CompletableFuture<Hold> reader = ofB.readLock().acquireAsync(BOUND);
    awaitWaiters("book", 1);
    write.release();
    reader.get(20, TimeUnit.SECONDS).release();
  }

  @Test
  void permitsAreGivenOutToTheLastOne() throws Exception {
    PermitHold one = a.semaphore("pool", 3).acquire(BOUND);
    PermitHold two = b.semaphore("pool", 3).acquire(BOUND);
    PermitHold three = a.semaphore("pool", 3).acquire(BOUND);
    CompletableFuture<PermitHold> four = b.semaphore("pool", 3).acquireAsync(BOUND);
    awaitWaiters("pool", 1);
    assertThat(a.semaphore("pool", 3).tryAcquire()).isEmpty();
    two.release();
    four.get(20, TimeUnit.SECONDS).release();
    one.release();
    three.release();
  }

  @Test
  void aNameHasOneKind() throws InterruptedException {
    try (Hold hold = a.lock("kind").acquire(BOUND)) {
      assertThatThrownBy(() -> b.semaphore("kind", 3).acquire(BOUND))
          .isInstanceOf(ModeConflictException.class)
          .hasMessageContaining("semaphore of 3");
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void aFixedLeaseEndsByItself_andCanBeExtended() throws Exception {
    FencedLock fixed = a.lock("fixed", LockOptions.defaults().fixedLease(Duration.ofSeconds(1)));
    Hold hold = fixed.acquire(BOUND);
    hold.extend(Duration.ofSeconds(2));
    assertThat(hold.remaining()).isGreaterThan(Duration.ofMillis(1_100));
    CompletableFuture<Hold> next = b.lock("fixed").acquireAsync(BOUND);
    awaitWaiters("fixed", 1);
    Hold taken = next.get(20, TimeUnit.SECONDS);
    assertThat(hold.isValid()).isFalse();
    assertThat(taken.token()).isGreaterThan(hold.token());
    taken.release();
  }

  @Test
  void aFixedClaimKeepsItsPlaceForLongerThanItsLease() throws Exception {
    Hold hold = a.lock("place").acquire(BOUND);
    FencedLock fixed = b.lock("place", LockOptions.defaults().fixedLease(Duration.ofSeconds(1)));
    CompletableFuture<Hold> waiting = fixed.acquireAsync(BOUND);
    awaitWaiters("place", 1);
    String key = etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/place!");
    long started = etcd.rpcCount("LeaseKeepAlive");
    Eventually.until(BOUND, "keep-alives", () -> etcd.rpcCount("LeaseKeepAlive") > started + 6);
    assertThat(etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/place!"))
        .isEqualTo(key);
    hold.release();
    Hold granted = waiting.get(20, TimeUnit.SECONDS);
    assertThat(granted.remaining()).isGreaterThan(Duration.ofMillis(400));
    granted.release();
  }

  @Test
  void aFixedClaimThatIsGivenUpAtOnce_leavesNoLeaseBehind() {
    String before = etcd.etcdctl("lease", "list");
    long granted = etcd.rpcCount("LeaseGrant");
    LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(1));
    for (int i = 0; i < 5; i++) {
      a.lock("given-up-" + i, fixed).acquireAsync(BOUND).cancel(false);
    }
    Eventually.until(BOUND, "leases", () -> etcd.rpcCount("LeaseGrant") == granted + 5);
    Eventually.until(
        BOUND, "the leases to end", () -> etcd.etcdctl("lease", "list").equals(before));
  }

  @Test
  void keepAtLeastLeavesTheNameClosedAfterARelease() throws Exception {
    LockOptions job = OPTIONS.keepAtLeast(Duration.ofMillis(1_500));
    Hold hold = a.lock("job", job).acquire(BOUND);
    long acquired = System.nanoTime();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(b.lock("job").tryAcquire()).isEmpty();
    try (Hold next = b.lock("job").acquire(BOUND)) {
      assertThat(System.nanoTime() - acquired).isGreaterThan(1_300_000_000L);
      assertThat(next.token()).isGreaterThan(hold.token());
    }
  }

  @Test
  void aForcedReleaseFreesTheName_andTheHolderHearsOfIt() throws Exception {
    Hold hold = a.lock("forced").acquire(BOUND);
    assertThat(b.forceRelease("forced", hold.token() + (1L << 8))).isFalse();
    assertThat(b.forceRelease("forced", hold.token())).isTrue();
    try (Hold next = b.lock("forced").acquire(BOUND)) {
      assertThat(next.token()).isGreaterThan(hold.token());
      Eventually.until(BOUND, "the loss to be noticed", () -> !hold.isValid());
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
      assertThat(next.isValid()).isTrue();
    }
  }

  @Test
  void aReleaseAfterAForcedOne_leavesTheNameClosedForTheDelay() throws Exception {
    LockOptions delayed = OPTIONS.lockDelay(Duration.ofSeconds(3));
    Hold hold = a.lock("closing", delayed).acquire(BOUND);
    assertThat(b.forceRelease("closing", hold.token())).isTrue();
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    assertThat(b.lock("closing").tryAcquire()).isEmpty();
    b.lock("closing").acquire(BOUND).release();
  }

  @Test
  void aClaimBehindOurOwnRelease_isGrantedWithoutAWatch() throws Exception {
    try (Fenceline each =
        Fenceline.builder()
            .store("etcd://" + etcd.address())
            .defaultOptions(OPTIONS)
            .handOff(HandOff.NONE)
            .connect()) {
      warm(each);
      long watches = etcd.rpcCount("Watch");
      long txns = etcd.rpcCount("Txn");
      Hold hold = each.lock("own").acquire(BOUND);
      List<CompletableFuture<Hold>> waiting = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        waiting.add(each.lock("own").acquireAsync(BOUND));
      }
      for (CompletableFuture<Hold> next : waiting) {
        hold.releaseAsync(); // Not waited for: the next claim goes out right behind it.
        hold = next.get(20, TimeUnit.SECONDS);
      }
      hold.release();
      assertThat(etcd.rpcCount("Txn") - txns).isEqualTo(101);
      assertThat(etcd.rpcCount("Watch") - watches).isZero();
    }
  }

  @Test
  void aLeaseBelowTheServersMinimumIsRefused_withTheFigure() {
    assertThat(a.guarantees().shortestLease()).isEqualTo(Duration.ofSeconds(1));
    LockOptions tooShort = LockOptions.defaults().lease(Duration.ofMillis(900));
    assertThatThrownBy(() -> a.lock("short", tooShort))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("from 1s");
  }

  @Test
  void aThousandHolds_costOneKeepAliveAnInterval_andAParkedWaiterOneReadALease() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(6));
    List<Hold> holds = new CopyOnWriteArrayList<>();
    CompletableFuture<?>[] taken = new CompletableFuture<?>[1_000];
    for (int i = 0; i < taken.length; i++) {
      FencedLock lock = a.lock("many/" + i, options);
      taken[i] = lock.acquireAsync(BOUND).thenAccept(holds::add);
    }
    CompletableFuture.allOf(taken).get(40, TimeUnit.SECONDS);
    CompletableFuture<Hold> waiting = b.lock("many/0", options).acquireAsync(BOUND);
    awaitWaiters("many/0", 1);

    long keepAlives = etcd.rpcCount("LeaseKeepAlive");
    long txns = etcd.rpcCount("Txn");
    long ranges = etcd.rpcCount("Range");
    long start = System.nanoTime();
    Eventually.until(
        BOUND, "a lease to pass", () -> System.nanoTime() - start > options.lease().toNanos());
    // Two sessions, three intervals each, and one more where an interval has just begun.
    assertThat(etcd.rpcCount("LeaseKeepAlive") - keepAlives).isBetween(3L, 8L);
    assertThat(etcd.rpcCount("Txn") - txns).as("looks of the waiter").isLessThanOrEqualTo(1);
    assertThat(etcd.rpcCount("Range") - ranges).isZero();
    assertThat(holds).hasSize(1_000).allMatch(Hold::isValid);

    waiting.cancel(false);
    CompletableFuture.allOf(
            holds.stream().map(Hold::releaseAsync).toArray(CompletableFuture<?>[]::new))
        .get(40, TimeUnit.SECONDS);
  }

  @Test
  void aKeyThatNobodyStandsFor_isSweptFromTheSession() throws Exception {
    try (Hold hold = a.lock("swept-by").acquire(BOUND)) {
      String key = etcd.etcdctl("get", "--prefix", "--keys-only", "/fenceline/lock/swept-by!");
      String lease = key.strip().replaceAll(".*!([0-9a-f]+)-0", "$1");
      // As if a claim that was given up had arrived late.
      ClaimRequest late =
          new ClaimRequest(
              "swept",
              Owner.draw(new SecureRandom()),
              Mode.EXCLUSIVE,
              OPTIONS.lease(),
              Duration.ZERO,
              true);
      String value =
          Entry.Value.of(late, 0, new ClientInfo("late", "host", 1))
              .bytes()
              .toString(StandardCharsets.UTF_8);
      etcd.etcdctl("put", "--lease=" + lease, "/fenceline/lock/swept!" + lease + "-0", value);
      assertThat(b.lock("swept").tryAcquire()).isEmpty();
      try (Hold next = b.lock("swept").acquire(OPTIONS.lease().multipliedBy(2))) {
        assertThat(next.isValid()).isTrue();
      }
      assertThat(hold.isValid()).isTrue();
    }
  }

  @Test
  void aHoldThatIsNoLongerRenewed_opensAfterItsDelay_thoughItsSessionLives() throws Exception {
    LockOptions leaky =
        LockOptions.defaults()
            .lease(Duration.ofSeconds(2))
            .lockDelay(Duration.ofSeconds(1))
            .maxHold(Duration.ofSeconds(1));
    Hold leaked = a.lock("leaked", leaky).acquire(BOUND);
    try (Hold next = b.lock("leaked").acquire(BOUND)) {
      assertThat(leaked.isValid()).isFalse();
      assertThat(next.token()).isGreaterThan(leaked.token());
    }
  }

  @Test
  void allHoldsOfASessionEndTogether_howeverLateTheyWereAcquired() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(30));
    try (Hold early = a.lock("early", options).acquire(BOUND)) {
      long start = System.nanoTime();
      Eventually.until(BOUND, "a while to pass", () -> System.nanoTime() - start > 500_000_000);
      try (Hold late = a.lock("late", options).acquire(BOUND)) {
        Duration ofEarly = early.remaining();
        assertThat(late.remaining()).isLessThanOrEqualTo(ofEarly);
      }
    }
  }
}
