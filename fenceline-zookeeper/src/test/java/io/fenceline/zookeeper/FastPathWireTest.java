package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.PermitHold;
import io.fenceline.StoreRefusedException;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.claim.ClaimTuning;
import io.fenceline.zookeeper.claim.FastPath;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A name that nobody else uses is claimed without a list; and what must not be taken for one. */
class FastPathWireTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Layout PATHS = new Layout("/trails");

  private final Fleet fleet = new Fleet();
  private FaultProxy proxy;
  private CuratorFramework own;
  private CuratorFramework bare;
  private Fenceline client;
  private Fenceline other;

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    own = framework(proxy.address(), false);
    client = client("alone", own);
    bare = framework(Servers.single().address(), false);
    other = client("other", bare);
  }

  private static CuratorFramework framework(String servers, boolean keepsWatchesToItself) {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(
        ZKClientConfig.DISABLE_AUTO_WATCH_RESET, String.valueOf(keepsWatchesToItself));
    CuratorFramework framework =
        CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs((int) Servers.SESSION.toMillis())
            .retryPolicy(new RetryOneTime(100))
            .zkClientConfig(config)
            .build();
    framework.start();
    return framework;
  }

  private Fenceline client(String label, CuratorFramework framework) {
    return fleet.client(
        label, ZooKeeperStores.from(framework).root(PATHS.root).tick(Servers.TICK), LEASE);
  }

  @AfterEach
  void close() {
    proxy.heal();
    fleet.close();
    own.close();
    bare.close();
    proxy.close();
  }

  /** All but pings, heartbeats, and the listing that goes with renewals. */
  private Map<String, Long> requests() {
    Map<String, Long> counts = new TreeMap<>(proxy.counts());
    counts.keySet().removeAll(List.of("ping", "setData", "getEphemerals"));
    return counts;
  }

  private static void cycle(Fenceline by, String name, int times) {
    for (int i = 0; i < times; i++) {
      Fleet.take(by, name).release();
    }
  }

  /** A folder that the server does not remove by itself, whenever it looks for empty ones. */
  private void folder(String name) throws Exception {
    bare.create().creatingParentsIfNeeded().forPath(PATHS.of(name));
  }

  /** Uses a name until it is claimed without a list; the number of its last node. */
  private int clear(String name) throws Exception {
    folder(name);
    cycle(client, name, 3);
    proxy.resetCounts();
    cycle(client, name, 2);
    assertThat(requests()).isEqualTo(Map.of("create2", 2L, "delete", 2L));
    return 4;
  }

  @Test
  void switchedOff_everyClaimListsTheQueue() throws Exception {
    folder("off");
    Fenceline listing =
        fleet.client(
            "listing",
            ZooKeeperStores.from(own)
                .root(PATHS.root)
                .tick(Servers.TICK)
                .tuned(new ClaimTuning(false, 16)),
            LEASE);
    cycle(listing, "off", 3);
    proxy.resetCounts();
    cycle(listing, "off", 2);
    assertThat(requests()).isEqualTo(Map.of("create2", 2L, "getChildren", 2L, "delete", 2L));
  }

  private List<Integer> numbers(String name) throws Exception {
    return bare.getChildren().forPath(PATHS.of(name)).stream().map(QueueNode::sequenceOf).toList();
  }

  /**
   * The folder is removed, as the server does with empty ones, and another client makes it again:
   * it holds the name with the number that was the last of the folder's life before.
   */
  private Hold anotherLife(String name, int last) throws Exception {
    bare.delete().forPath(PATHS.of(name));
    folder(name);
    cycle(other, name, last);
    Hold held = Fleet.take(other, name);
    assertThat(numbers(name)).containsExactly(last);
    return held;
  }

  private void assertWaitsFor(Hold held, String name, Fenceline by) {
    CompletableFuture<Hold> waiting = by.lock(name).acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE,
        "an answer",
        () -> waiting.isDone() || other.inspect(name).waiters().size() == 1);
    assertThat(waiting).isNotDone();
    held.release();
    Hold next = Fleet.get(waiting);
    assertThat(next.token()).isGreaterThan(held.token());
    next.release();
  }

  // What it costs. ------------------------------------------------------------------------------

  @Test
  void nameThatNobodyElseUses_costsTwoRequests_fromTheFourthTimeOn() throws Exception {
    folder("mine");
    Fleet.take(client, "mine").release();
    proxy.resetCounts();
    cycle(client, "mine", 2);
    assertThat(requests())
        .isEqualTo(Map.of("create2", 2L, "getChildren", 2L, "delete", 2L, "getData", 1L));
    proxy.resetCounts();
    cycle(client, "mine", 10);
    assertThat(requests()).isEqualTo(Map.of("create2", 10L, "delete", 10L));
  }

  @Test
  void nameThatTwoUseInTurns_costsThreeRequests_andOneRoundTripToAcquire() throws Exception {
    clear("turns");
    proxy.resetCounts();
    for (int i = 0; i < 10; i++) {
      cycle(other, "turns", 1);
      cycle(client, "turns", 1);
    }
    assertThat(requests()).isEqualTo(Map.of("create2", 10L, "getChildren", 10L, "delete", 10L));

    cycle(other, "turns", 1);
    proxy.resetCounts();
    Fault slow = proxy.holdReply(Trigger.first(request -> request.is("create2")));
    CompletableFuture<Hold> acquiring = client.lock("turns").acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE,
        "the list to be sent along",
        () -> slow.timesApplied() == 1 && proxy.count("getChildren") == 1);
    assertThat(requests()).isEqualTo(Map.of("create2", 1L, "getChildren", 1L));
    slow.lift();
    Fleet.get(acquiring).release();
  }

  // Who is ahead is seen. -----------------------------------------------------------------------

  @Test
  void anotherClientInBetween_isWaitedFor_andForgottenAfterAWhile() throws Exception {
    clear("between");
    Hold held = Fleet.take(other, "between");
    for (int i = 0; i < 10; i++) {
      // Its own nodes follow one another, but none of them had the name.
      assertThat(client.lock("between").tryAcquire()).isEmpty();
    }
    assertWaitsFor(held, "between", client);

    cycle(client, "between", 5);
    proxy.resetCounts();
    cycle(client, "between", 3);
    assertThat(requests()).isEqualTo(Map.of("create2", 3L, "delete", 3L));
  }

  @Test
  void claimsOfOtherModes_areSeen() throws Exception {
    clear("modes");
    Hold reader = other.readWriteLock("modes").readLock().tryAcquire().orElseThrow();
    assertThat(client.lock("modes").tryAcquire()).isEmpty();
    reader.release();

    clear("modes-of-permits");
    PermitHold permit = other.semaphore("modes-of-permits", 2).tryAcquire().orElseThrow();
    assertThatThrownBy(() -> client.lock("modes-of-permits").tryAcquire())
        .isInstanceOf(StoreRefusedException.class);
    permit.release();
  }

  @Test
  void folderThatAnotherHasMadeAgain_isNotTakenForTheOldOne() throws Exception {
    int last = clear("lives");
    Hold held = anotherLife("lives", last);
    // Its number is the one after our last, and yet another one is ahead.
    assertThat(client.lock("lives").tryAcquire()).isEmpty();
    assertWaitsFor(held, "lives", client);
  }

  @Test
  void folderThatWasMadeAgainWhileTheAnswerWasOnItsWay_isNotTakenForTheOldOne() throws Exception {
    int last = clear("late");
    // The event is kept back as well, and comes before the answer to what was sent after it.
    Fault slow =
        proxy.holdReply(Trigger.first(request -> request.is("ping") || request.is("setData")));
    Eventually.until(Fleet.AMPLE, "a ping or heartbeat", () -> slow.timesApplied() == 1);
    Hold held = anotherLife("late", last);
    CompletableFuture<Hold> waiting = client.lock("late").acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "its node", () -> numbers("late").contains(last + 1));
    proxy.resetCounts();
    slow.lift();
    Eventually.until(
        Fleet.AMPLE, "the list", () -> waiting.isDone() || proxy.count("getChildren") >= 1);
    assertThat(waiting).isNotDone();
    held.release();
    assertThat(Fleet.get(waiting).token()).isGreaterThan(held.token());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void folderThatWasMadeAgainWhileDisconnected_isNotTakenForTheOldOne(boolean keepsWatchesToItself)
      throws Exception {
    String name = "cut-" + keepsWatchesToItself;
    own.close();
    own = framework(proxy.address(), keepsWatchesToItself);
    client = client("alone", own);
    int last = clear(name);
    long session = own.getZookeeperClient().getZooKeeper().getSessionId();
    Fault cut = proxy.refuseConnections();
    assertThat(proxy.closeAll()).isPositive();
    Hold held = anotherLife(name, last);
    cut.lift();
    Eventually.until(
        Fleet.AMPLE,
        "the connection",
        () -> own.getZookeeperClient().getZooKeeper().getState().isConnected());

    assertWaitsFor(held, name, client);
    assertThat(own.getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
  }

  @Test
  void folderThatWasMadeAgainInTheNextSession_isNotTakenForTheOldOne() throws Exception {
    int last = clear("sessions");
    long session = own.getZookeeperClient().getZooKeeper().getSessionId();
    SessionEndTest.expire(own);
    Hold held = anotherLife("sessions", last);

    assertWaitsFor(held, "sessions", client);
    assertThat(own.getZookeeperClient().getZooKeeper().getSessionId()).isNotEqualTo(session);
  }

  // Our own nodes. ------------------------------------------------------------------------------

  @Test
  void creationWhoseReplyWasLost_isFoundAgain_andStandsInTheWay() throws Exception {
    clear("lost");
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("create2")));
    Hold hold = Fleet.get(client.lock("lost").acquireAsync(Fleet.AMPLE));
    assertThat(cut.timesApplied()).isEqualTo(1);
    assertThat(other.lock("lost").tryAcquire()).isEmpty();
    assertThat(other.inspect("lost").holders()).hasSize(1);
    hold.release();
    Fleet.take(other, "lost").release();
  }

  @Test
  void claimThatIsGivenUpBeforeItsAnswer_leavesNothing() throws Exception {
    clear("given-up");
    Fault slow = proxy.holdReply(Trigger.first(request -> request.is("create2")));
    CompletableFuture<Hold> acquiring = client.lock("given-up").acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "the reply", () -> slow.timesApplied() == 1);
    assertThat(acquiring.cancel(true)).isTrue();
    assertThat(other.inspect("given-up").holders()).hasSize(1);
    slow.lift();
    Eventually.until(Fleet.AMPLE, "the name to be free", () -> other.inspect("given-up").isFree());
  }

  private static long watches(String path) {
    return Servers.single().fourLetterWord("wchp").lines().filter(l -> l.contains(path)).count();
  }

  // Bounds. -------------------------------------------------------------------------------------

  @Test
  void onlySoManyNames_areRemembered() throws Exception {
    int more = 50;
    int step = 150;
    proxy.resetCounts();
    for (int from = 0; from < FastPath.MAX_NAMES + more; from += step) {
      List<String> names = IntStream.range(from, from + step).mapToObj(i -> "many-" + i).toList();
      for (String name : names) {
        folder(name);
      }
      for (int i = 0; i < 3; i++) {
        names.stream().map(name -> client.lock(name).acquireAsync(Fleet.AMPLE)).toList().stream()
            .map(taken -> Fleet.get(taken).releaseAsync())
            .toList()
            .forEach(Fleet::get);
      }
    }
    assertThat(proxy.count("getData")).isEqualTo(FastPath.MAX_NAMES + more);
    Eventually.until(
        Fleet.AMPLE, "watches to be removed", () -> proxy.count("removeWatches") == more);
    assertThat(watches("/many-")).isEqualTo(FastPath.MAX_NAMES);

    proxy.resetCounts();
    cycle(client, "many-0", 1);
    assertThat(proxy.count("getChildren")).isEqualTo(1);
    cycle(client, "many-" + (FastPath.MAX_NAMES + more - 1), 1);
    assertThat(proxy.count("getChildren")).isEqualTo(1);
  }

  @Test
  void closedStore_leavesNoWatchOnAConnectionThatGoesOn() throws Exception {
    clear("closed");
    assertThat(watches("/closed")).isEqualTo(1);
    client.close();
    Eventually.until(Fleet.AMPLE, "no watch", () -> watches("/closed") == 0);
    assertThat(own.getZookeeperClient().isConnected()).isTrue();
  }
}
