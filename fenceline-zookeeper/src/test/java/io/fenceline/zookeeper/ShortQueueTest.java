package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.event.Contended;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.ZooKeeperServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.claim.ClaimTuning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiters with a few ahead: a list grants, when one that was watched has left. */
class ShortQueueTest {
  /** So long that nobody polls while a test lasts. */
  private static final Duration LEASE = Duration.ofSeconds(25);

  private static ZooKeeperServer server;

  private final Fleet fleet = new Fleet();
  private FaultProxy proxy;
  private CuratorFramework meddler;
  private Fenceline holder;
  private Fenceline between;
  private Fenceline waiter;
  private Fenceline behind;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(Duration.ofSeconds(2));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(server.host(), server.port(), Protocol.ZOOKEEPER);
    holder = client("holder", server.address(), ClaimTuning.USUAL);
    between = client("between", server.address(), ClaimTuning.USUAL);
    waiter = client("waiter", proxy.address(), ClaimTuning.USUAL);
    behind = client("behind", server.address(), ClaimTuning.USUAL);
    meddler = CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
    meddler.start();
  }

  private Fenceline client(String label, String servers, ClaimTuning tuning) {
    String uri = "zookeeper://%s/test?session=40s".formatted(servers);
    return fleet.client(label, ZooKeeperStores.at(uri).tuned(tuning), LEASE);
  }

  @AfterEach
  void close() {
    fleet.close();
    meddler.close();
    proxy.close();
  }

  private CompletableFuture<Hold> queue(Fenceline by, String name, String... line) {
    int before = fleet.heard(Contended.class).size();
    CompletableFuture<Hold> waiting = by.lock(name).acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE, "its watch", () -> fleet.heard(Contended.class).size() == before + 1);
    Fleet.awaitWaiters(holder, name, line);
    return waiting;
  }

  /** All but pings, heartbeats, and the listing that goes with renewals. */
  private Map<String, Long> requests() {
    Map<String, Long> counts = new TreeMap<>(proxy.counts());
    counts.keySet().removeAll(List.of("ping", "setData", "getEphemerals"));
    return counts;
  }

  @Test
  void handOver_isFiveRequests_oneOfThemAfterTheEvent() {
    for (int turn = 1; turn <= 2; turn++) {
      Hold held = Fleet.take(holder, "counted");
      CompletableFuture<Hold> next = queue(between, "counted", "between");
      proxy.resetCounts();
      CompletableFuture<Hold> last = queue(waiter, "counted", "between", "waiter");
      held.release();
      Hold second = Fleet.get(next);
      // By the second turn it has met the clients: it reads the holder's token at most, if it has
      // waited for that long, and neither its own node nor the one ahead.
      Map<String, Long> joined = requests();
      Long reads = joined.remove("getData");
      assertThat(reads == null ? 0 : reads).isLessThanOrEqualTo(turn == 1 ? 2 : 1);
      assertThat(joined).isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "getChildren2", 1L));

      proxy.resetCounts();
      second.release();
      Hold third = Fleet.get(last);
      third.release();

      assertThat(requests()).isEqualTo(Map.of("getChildren", 1L, "delete", 1L));
    }
    assertThat(fleet.heard(Contended.class)).extracting(Contended::holder).containsOnly("holder");
  }

  @Test
  void waitThatLasts_endsWithTheHoldersToken() throws Exception {
    Hold held = Fleet.take(holder, "named");
    CompletableFuture<Hold> first = queue(between, "named", "between");
    CompletableFuture<Hold> unused = queue(waiter, "named", "between", "waiter");
    unused.cancel(true);
    Fleet.awaitWaiters(holder, "named", "between");
    proxy.resetCounts();

    // The second time, its client knows all it meets.
    CompletableFuture<Hold> again = waiter.lock("named").acquireAsync(Duration.ofSeconds(2));
    Eventually.until(Fleet.AMPLE, "the late read", () -> proxy.count("getData") == 1);

    assertThat(again)
        .failsWithin(Fleet.AMPLE)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            LockTimeoutException.class,
            timeout -> {
              assertThat(timeout.holder()).contains("holder");
              assertThat(timeout.holderToken()).contains(held.token());
            });
    held.release();
    Fleet.get(first).release();
  }

  @Test
  void nodeOfAWaiterThatSomeoneRemoved_doesNotMakeTwoHolders() throws Exception {
    Hold held = Fleet.take(holder, "removed");
    CompletableFuture<Hold> first = queue(between, "removed", "between");
    CompletableFuture<Hold> removed = queue(waiter, "removed", "between", "waiter");
    CompletableFuture<Hold> next = queue(behind, "removed", "between", "waiter", "behind");
    meddler.delete().forPath(Fleet.node(meddler, "removed", 2));
    held.release();
    Hold second = Fleet.get(first);

    second.release(); // Both the one that was removed and the one behind it hear of it.

    Hold granted = Fleet.get(next);
    Eventually.until(
        Fleet.AMPLE,
        "the one that was removed to queue again",
        () -> removed.isDone() || holder.inspect("removed").waiters().size() == 1);
    assertThat(removed).as("granted beside the one behind it").isNotDone();
    granted.release();
    assertThat(Fleet.get(removed).token()).isGreaterThan(granted.token());
  }

  @Test
  void nodeOfAWaiterThatSomeoneRemovedDuringAnOutage_doesNotMakeTwoHolders() throws Exception {
    Hold held = Fleet.take(holder, "outage");
    CompletableFuture<Hold> first = queue(between, "outage", "between");
    CompletableFuture<Hold> removed = queue(waiter, "outage", "between", "waiter");
    CompletableFuture<Hold> next = queue(behind, "outage", "between", "waiter", "behind");
    Fault refusing = proxy.refuseConnections();
    assertThat(proxy.closeAll()).isPositive();
    meddler.delete().forPath(Fleet.node(meddler, "outage", 2));
    held.release();
    Fleet.get(first).release();
    Hold granted = Fleet.get(next);

    refusing.lift();

    Eventually.until(
        Fleet.AMPLE,
        "the one that was removed to queue again",
        () -> removed.isDone() || holder.inspect("outage").waiters().size() == 1);
    assertThat(removed).as("granted beside the one behind it").isNotDone();
    granted.release();
    assertThat(Fleet.get(removed).token()).isGreaterThan(granted.token());
  }

  /**
   * It polls, and finds that only one is ahead by now, whose deletion could be taken for a grant.
   */
  @Test
  void nodeOfAWaiterThatWatchesItTooLate_doesNotMakeTwoHolders() throws Exception {
    String uri = "zookeeper://%s/test?session=40s".formatted(proxy.address());
    Fenceline polling = fleet.client("polling", ZooKeeperStores.at(uri), Duration.ofSeconds(1));
    Hold held = Fleet.take(holder, "late");
    CompletableFuture<Hold> first = queue(between, "late", "between");
    CompletableFuture<Hold> removed = queue(polling, "late", "between", "polling");
    CompletableFuture<Hold> next = queue(behind, "late", "between", "polling", "behind");
    held.release();
    Hold second = Fleet.get(first);
    String own = Fleet.node(meddler, "late", 1);
    Fault late =
        proxy.holdRequest(Trigger.first(request -> request.is("getData") && request.contains(own)));
    Eventually.until(Fleet.AMPLE, "a poll, and the watch", () -> late.timesApplied() == 1);
    assertThat(second.isValid()).as("not lost by load").isTrue();

    meddler
        .transaction()
        .forOperations(
            meddler.transactionOp().delete().forPath(own),
            meddler.transactionOp().delete().forPath(Fleet.node(meddler, "late", 0)));

    Hold granted = Fleet.get(next);
    late.lift();
    Eventually.until(
        Fleet.AMPLE,
        "the one that was removed to queue again",
        () -> removed.isDone() || holder.inspect("late").waiters().size() == 1);
    assertThat(removed).as("granted beside the one behind it").isNotDone();
    granted.release();
    assertThat(Fleet.get(removed).token()).isGreaterThan(granted.token());
  }

  @Test
  void waiterThatGivesUp_letsNobodyIn() {
    Hold held = Fleet.take(holder, "gave-up");
    CompletableFuture<Hold> first = queue(between, "gave-up", "between");
    CompletableFuture<Hold> last = queue(waiter, "gave-up", "between", "waiter");
    proxy.resetCounts();

    first.cancel(true);
    Fleet.awaitWaiters(holder, "gave-up", "waiter");
    Eventually.until(Fleet.AMPLE, "its look", () -> proxy.count("getChildren2") == 1);

    assertThat(last).isNotDone();
    assertThat(held.isValid()).isTrue();
    held.release();
    assertThat(Fleet.get(last).token()).isGreaterThan(held.token());
  }

  /** Clients of both kinds meet where some began to wait while the queue was long. */
  @Test
  void waitersOfALongQueue_andOfAShortOne_takeTurns() {
    Hold held = Fleet.take(holder, "mixed");
    List<CompletableFuture<Hold>> waiting = new ArrayList<>();
    List<String> line = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      line.add("mixed-" + i);
      ClaimTuning tuning = i % 2 == 0 ? ClaimTuning.USUAL : new ClaimTuning(true, 0);
      Fenceline next = client("mixed-" + i, server.address(), tuning);
      waiting.add(queue(next, "mixed", line.toArray(new String[0])));
    }
    long token = held.token();
    held.release();
    for (CompletableFuture<Hold> next : waiting) {
      Hold granted = Fleet.get(next);
      assertThat(granted.token()).isGreaterThan(token);
      assertThat(waiting.stream().filter(CompletableFuture::isDone).count())
          .isEqualTo(waiting.indexOf(next) + 1L);
      token = granted.token();
      granted.release();
    }
  }
}
