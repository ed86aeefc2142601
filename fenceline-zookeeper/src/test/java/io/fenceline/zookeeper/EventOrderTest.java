package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events that seem to be a grant, and are none, where events grant: in long queues. */
class EventOrderTest {
  /** So long that nobody polls while a test lasts. */
  private static final Duration LEASE = Duration.ofSeconds(25);

  /** Whoever has more than one ahead waits as in a long queue. */
  private static final ClaimTuning ALL_LONG = new ClaimTuning(true, 0);

  private static ZooKeeperServer server;

  private final Fleet fleet = new Fleet();
  private FaultProxy proxy;
  private CuratorFramework meddler;
  private Fenceline holder;
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
    holder = client("holder", server.address());
    waiter = client("waiter", proxy.address());
    behind = client("behind", server.address());
    meddler = CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
    meddler.start();
  }

  private Fenceline client(String label, String servers) {
    String uri = "zookeeper://%s/test?session=40s".formatted(servers);
    return fleet.client(label, ZooKeeperStores.at(uri).tuned(ALL_LONG), LEASE);
  }

  @AfterEach
  void close() {
    proxy.heal();
    fleet.close();
    meddler.close();
    proxy.close();
  }

  private CompletableFuture<Hold> queue(Fenceline by, String name, String... line) {
    CompletableFuture<Hold> waiting = by.lock(name).acquireAsync(Fleet.AMPLE);
    Fleet.awaitWaiters(holder, name, line);
    return waiting;
  }

  /** By then the client has heard of all that was done before, its answer being the last. */
  private static void awaitEvents(Fenceline client, String name) {
    assertThat(client.inspect(name).holders()).hasSize(1);
  }

  @Test
  void nodeOfAWaiterThatWasRemovedDuringAnOutage_doesNotMakeTwoHolders() throws Exception {
    // After a reconnect events come in any order, which differs from name to name.
    List<String> names = IntStream.range(0, 12).mapToObj(i -> "outage-" + i).toList();
    List<Hold> held = names.stream().map(name -> Fleet.take(holder, name)).toList();
    List<CompletableFuture<Hold>> waiting = new ArrayList<>();
    List<CompletableFuture<Hold>> next = new ArrayList<>();
    for (String name : names) {
      waiting.add(queue(waiter, name, "waiter"));
      next.add(queue(behind, name, "waiter", "behind"));
    }
    Eventually.until(Fleet.AMPLE, "the watches", () -> proxy.count("getData") >= 2L * names.size());
    awaitEvents(waiter, names.get(0));

    Fault refusing = proxy.refuseConnections();
    assertThat(proxy.closeAll()).isPositive();
    for (int i = 0; i < names.size(); i++) {
      meddler.delete().forPath(Fleet.node(meddler, names.get(i), 1));
      held.get(i).release();
    }
    List<Hold> granted = next.stream().map(Fleet::get).toList();
    refusing.lift();

    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      CompletableFuture<Hold> removed = waiting.get(i);
      Eventually.until(
          Fleet.AMPLE,
          "the one that was removed to queue again",
          () -> removed.isDone() || holder.inspect(name).waiters().size() == 1);
      assertThat(removed).as("granted beside the one behind it").isNotDone();
      assertThat(granted.get(i).isValid()).isTrue();
    }
    granted.forEach(Hold::release);
    for (int i = 0; i < names.size(); i++) {
      assertThat(Fleet.get(waiting.get(i)).token()).isGreaterThan(granted.get(i).token());
    }
  }

  @Test
  void nodeOfAWaiterThatIsRemovedAfterAReconnectThatSetsNoWatches_doesNotMakeTwoHolders()
      throws Exception {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
    String name = "unwatched";
    try (CuratorFramework forgetful =
        CuratorFrameworkFactory.builder()
            .connectString(proxy.address())
            .sessionTimeoutMs(40_000)
            .retryPolicy(new RetryOneTime(100))
            .zkClientConfig(config)
            .build()) {
      forgetful.start();
      ZooKeeperStores locks =
          ZooKeeperStores.from(forgetful).root("/test/fenceline").tuned(ALL_LONG);
      Fenceline robbed = fleet.client("robbed", locks, Duration.ofSeconds(5)); // It polls soon.
      Fenceline between = client("between", server.address());
      Hold held = Fleet.take(holder, name);
      String first = Fleet.node(meddler, name, 0);
      CompletableFuture<Hold> givesUp = queue(between, name, "between");
      CompletableFuture<Hold> removed = queue(robbed, name, "between", "robbed");
      CompletableFuture<Hold> next = queue(behind, name, "between", "robbed", "behind");
      awaitEvents(robbed, name);
      assertThat(proxy.closeAll()).isPositive();
      Eventually.until(Fleet.AMPLE, "a reconnect", () -> isHeard(robbed, name));
      AtomicBoolean isWatching = new AtomicBoolean();
      Fault seen =
          proxy.cutRequest(
              Trigger.every(
                  request -> {
                    if (request.contains(first)) {
                      isWatching.set(true);
                    }
                    return false;
                  }));
      givesUp.cancel(true);
      Eventually.until(Fleet.AMPLE, "a poll, and the watch of the holder", isWatching::get);
      seen.lift();
      awaitEvents(robbed, name);

      meddler.delete().forPath(Fleet.node(meddler, name, 1));
      held.release();

      Hold granted = Fleet.get(next);
      Eventually.until(
          Fleet.AMPLE,
          "the one that was removed to queue again",
          () -> removed.isDone() || holder.inspect(name).waiters().size() == 1);
      assertThat(removed).as("granted beside the one behind it").isNotDone();
      granted.release();
      assertThat(Fleet.get(removed).token()).isGreaterThan(granted.token());
      fleet.close();
    }
  }

  private static boolean isHeard(Fenceline client, String name) {
    try {
      return client.inspect(name).holders().size() == 1;
    } catch (StoreUnavailableException e) {
      return false;
    }
  }

  @Test
  void nodeOfAWaiterThatSomeoneRemoved_doesNotMakeTwoHolders() throws Exception {
    Hold held = Fleet.take(holder, "removed");
    CompletableFuture<Hold> removed = queue(waiter, "removed", "waiter");
    CompletableFuture<Hold> next = queue(behind, "removed", "waiter", "behind");
    Eventually.until(Fleet.AMPLE, "the watches", () -> proxy.count("getData") >= 2);
    awaitEvents(waiter, "removed");

    // One step, so that nothing can be heard between the two.
    meddler
        .transaction()
        .forOperations(
            meddler.transactionOp().delete().forPath(Fleet.node(meddler, "removed", 1)),
            meddler.transactionOp().delete().forPath(Fleet.node(meddler, "removed", 0)));

    Hold granted = Fleet.get(next);
    Eventually.until(
        Fleet.AMPLE,
        "the one that was removed to queue again",
        () -> removed.isDone() || holder.inspect("removed").waiters().size() == 1);
    assertThat(removed).as("granted beside the one behind it").isNotDone();
    granted.release();
    assertThat(Fleet.get(removed).token()).isGreaterThan(granted.token());
    assertThat(held.token()).isLessThan(granted.token());
  }

  @Test
  void nodeOfAHolderThatSomeoneHasWritten_grantsNothing() throws Exception {
    Hold held = Fleet.take(holder, "written");
    CompletableFuture<Hold> waiting = queue(waiter, "written", "waiter");
    CompletableFuture<Boolean> beside = waiting.thenApply(granted -> held.isValid());
    Eventually.until(Fleet.AMPLE, "the watches", () -> proxy.count("getData") >= 2);
    awaitEvents(waiter, "written");

    for (int i = 0; i < 3; i++) {
      meddler.setData().forPath(Fleet.node(meddler, "written", 0), new byte[] {1});
      awaitEvents(waiter, "written");
    }

    assertThat(held.isValid()).isTrue();
    assertThat(waiting).isNotDone();
    held.release();
    assertThat(Fleet.get(waiting).token()).isGreaterThan(held.token());
    assertThat(Fleet.get(beside)).as("granted beside the holder").isFalse();
  }

  @Test
  void nodeThatSomeoneHasWritten_isHandedOverAllTheSame() throws Exception {
    Hold first = Fleet.take(holder, "handed");
    CompletableFuture<Hold> waiting = queue(waiter, "handed", "waiter");
    CompletableFuture<Hold> last = queue(behind, "handed", "waiter", "behind");
    first.release();
    Hold second = Fleet.get(waiting); // One that had to wait hands over in one transaction.

    meddler.setData().forPath(Fleet.node(meddler, "handed", 0), new byte[] {1});
    awaitEvents(behind, "handed");
    assertThat(last).isNotDone();
    second.release();

    assertThat(Fleet.get(last).token()).isGreaterThan(second.token());
  }

  @Test
  void nodeThatIsHandedOverBetweenTheReadsThatWatchIt_isHeardOf() throws Exception {
    Hold first = Fleet.take(holder, "between");
    CompletableFuture<Hold> second = queue(behind, "between", "behind");
    first.release();
    Hold held = Fleet.get(second); // One that had to wait hands over in one transaction.
    String node = Fleet.node(meddler, "between", 0);
    Fault late = proxy.holdRequest(Trigger.nth(2, frame -> frame.contains(node)));
    CompletableFuture<Hold> waiting = waiter.lock("between").acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE,
        "the second read, unless the hold is lost",
        () -> !held.isValid() || late.timesApplied() > 0);
    assertThat(held.isValid()).as("not lost by load").isTrue();

    assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
    late.lift();

    // Long before a poll: the claim was sent a moment ago.
    assertThat(waiting.get(LEASE.toMillis() * 3 / 4, TimeUnit.MILLISECONDS).token())
        .isGreaterThan(held.token());
  }

  @Test
  void nodeOfAWaiterThatSomeoneHasWritten_saysNothingOfTheHolderWhenItGivesUp() throws Exception {
    Hold held = Fleet.take(holder, "given-up");
    CompletableFuture<Hold> between = queue(behind, "given-up", "behind");
    CompletableFuture<Hold> waiting = queue(waiter, "given-up", "behind", "waiter");
    Eventually.until(Fleet.AMPLE, "the watches", () -> proxy.count("getData") >= 3);
    awaitEvents(waiter, "given-up");

    meddler.setData().forPath(Fleet.node(meddler, "given-up", 1), new byte[] {1});
    between.cancel(true);
    Fleet.awaitWaiters(holder, "given-up", "waiter");
    awaitEvents(waiter, "given-up");

    assertThat(waiting).isNotDone();
    assertThat(held.isValid()).isTrue();
    held.release();
    assertThat(Fleet.get(waiting).token()).isGreaterThan(held.token());
  }
}
