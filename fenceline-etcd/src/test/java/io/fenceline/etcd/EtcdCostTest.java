package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.settings.HandOff;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
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
import org.junit.jupiter.api.Test;

/** Requests counted at the server: what a cycle, a hand-over, waiting and holding cost. */
@SuppressWarnings("MustBeClosedChecker") // holds and clients outlive the block that makes them
class EtcdCostTest extends OneEtcdServer {
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

  /** What each of four times a hundred cycles costs. */
  private long[] cycle(Fenceline cycling) throws InterruptedException {
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
    return cost;
  }

  @Test
  void manyCyclesOfOneName_useOneKey_andTheLastCostWhatTheFirstDid() throws InterruptedException {
    Set<String> used = new ConcurrentSkipListSet<>();
    Pattern key = Pattern.compile("/lock/cycled!([0-9a-f]+-[0-9]+)");
    try (FaultProxy proxy = FaultProxy.to(etcd.host(), etcd.port(), Protocol.HTTP2);
        Fenceline cycling = client("cycling", proxy.address())) {
      watch(proxy, frame -> key.matcher(frame).results().forEach(m -> used.add(m.group(1))));
      warm(cycling);
      long[] cost = cycle(cycling);
      if (used.size() > 1) { // A busy machine has let the session go; not twice.
        used.clear();
        cost = cycle(cycling);
      }
      assertThat(used)
          .as("a new key leaves a tombstone that every later read walks over")
          .hasSize(1);
      assertThat(cost).containsOnly(200);
    }
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
  void processesThatTakeTurns_useOneWatchEach_whichEndsAfterwards() throws Exception {
    LockOptions patient = LockOptions.defaults().lease(Duration.ofSeconds(20));
    long opened = etcd.rpcCount("Watch");
    int turns = 50;
    for (int i = 0; i < turns; i++) {
      Hold hold = a.lock("watched", patient).acquire(BOUND);
      CompletableFuture<Hold> waiting = b.lock("watched", patient).acquireAsync(BOUND);
      awaitWaiters("watched", 1);
      hold.release();
      waiting.get(20, TimeUnit.SECONDS).release();
    }
    // A machine that stands still for two seconds has them opened anew.
    assertThat(etcd.rpcCount("Watch") - opened).isBetween(1L, turns / 5L);
    Eventually.until(BOUND, "all watches to end", () -> etcd.openStreams("Watch") == 0);
  }

  @Test
  void aHandOverBetweenTwo_isADelete_aRead_andNoOtherWrite() throws Exception {
    LockOptions patient = LockOptions.defaults().lease(Duration.ofSeconds(20));
    Hold hold = a.lock("passed", patient).acquire(BOUND);
    CompletableFuture<Hold> waiting = b.lock("passed", patient).acquireAsync(BOUND);
    awaitWaiters("passed", 1);
    Eventually.until(BOUND, "a watch", () -> etcd.openStreams("Watch") == 1);
    long revision = revision();
    hold.release();
    Hold granted = waiting.get(20, TimeUnit.SECONDS);
    assertThat(revision() - revision).as("writes of a hand-over").isEqualTo(1);
    assertThat(granted.isValid()).isTrue();
    granted.release();
  }

  private long revision() {
    return Long.parseLong(
        etcd.etcdctl("get", "nothing", "-w", "json").replaceAll(".*\"revision\":([0-9]+).*", "$1"));
  }
}
