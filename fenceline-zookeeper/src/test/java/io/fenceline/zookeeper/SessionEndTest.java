package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.LossReason;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.ZooKeeperServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A session that ends, or that has more in it than it should; on a client of the user's own. */
class SessionEndTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration AMPLE = Fleet.AMPLE;

  private final Fleet fleet = new Fleet();
  private CuratorFramework curator;
  private Fenceline client;
  private Fenceline other;

  @BeforeEach
  void connect() {
    curator =
        CuratorFrameworkFactory.builder()
            .connectString(Servers.single().address())
            .namespace("apps")
            .sessionTimeoutMs((int) Servers.SESSION.toMillis())
            .retryPolicy(new RetryOneTime(100))
            .build();
    curator.start();
    client = fleet.client("mine", over(curator), LEASE);
    CuratorFramework same = curator;
    other = fleet.client("other", over(same), LEASE);
  }

  private static ZooKeeperStores over(CuratorFramework framework) {
    return ZooKeeperStores.from(framework).root("/locks").tick(Servers.TICK);
  }

  @AfterEach
  void close() {
    fleet.close();
    curator.close();
  }

  /** Ends the session at the server: whoever knows its password may close it. */
  static void expire(CuratorFramework framework) throws Exception {
    ZooKeeper victim = framework.getZookeeperClient().getZooKeeper();
    CompletableFuture<Void> connected = new CompletableFuture<>();
    ZooKeeper twin =
        new ZooKeeper(
            Servers.single().address(),
            victim.getSessionTimeout(),
            event -> connected.complete(null),
            victim.getSessionId(),
            victim.getSessionPasswd());
    Fleet.get(connected);
    twin.close();
  }

  @Test
  void expiredSession_isLoss_andTheNextOneGetsALargerToken() throws Exception {
    // Longer than a reconnect takes, so that it is the session's end that is heard of.
    LockOptions patient = LockOptions.defaults().lease(Duration.ofMillis(4_500));
    Hold hold = client.lock("expired", patient).tryAcquire().orElseThrow();
    long session = curator.getZookeeperClient().getZooKeeper().getSessionId();

    expire(curator);

    assertThat(Fleet.get(hold.lost()).reason()).isEqualTo(LossReason.GONE);
    assertThat(hold.isValid()).isFalse();
    assertThatThrownBy(hold::reenter).isInstanceOf(LockLostException.class);
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    Hold next = Fleet.get(other.lock("expired").acquireAsync(Fleet.AMPLE));
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(curator.getZookeeperClient().getZooKeeper().getSessionId()).isNotEqualTo(session);
    assertThat(next.isValid()).isTrue();
  }

  @Test
  void waiterWhoseSessionExpired_asksAgain() throws Exception {
    Fenceline holder = fleet.client("holder", ownStore(), LEASE);
    Hold held = Fleet.take(holder, "expired-waiter");
    CompletableFuture<Hold> waiting = client.lock("expired-waiter").acquireAsync(Fleet.AMPLE);
    Eventually.until(
        Fleet.AMPLE, "the wait", () -> holder.inspect("expired-waiter").waiters().size() == 1);

    expire(curator);
    Eventually.until(
        Fleet.AMPLE, "the next wait", () -> holder.inspect("expired-waiter").waiters().size() == 1);
    assertThat(waiting).isNotDone();
    held.release();

    assertThat(Fleet.get(waiting).token()).isGreaterThan(held.token());
  }

  private static io.fenceline.spi.StoreFactory ownStore() {
    CuratorFramework own =
        CuratorFrameworkFactory.newClient(
            Servers.single().address() + "/apps",
            (int) Servers.SESSION.toMillis(),
            20_000,
            new RetryOneTime(100));
    own.start(); // Left to the end of the process; the store over it is closed.
    return over(own);
  }

  @Test
  void chrootAndNamespace_nameTheSamePlace() throws Exception {
    Fenceline chrooted = fleet.client("chrooted", ownStore(), LEASE);
    Hold hold = Fleet.take(chrooted, "same/place");
    assertThat(client.lock("same/place").tryAcquire()).isEmpty();
    assertThat(client.inspect("same/place").holders())
        .singleElement()
        .satisfies(holder -> assertThat(holder.token()).isEqualTo(hold.token()));
    Eventually.until(
        Fleet.AMPLE,
        "renewals with a chroot",
        () ->
            fleet.heard(io.fenceline.event.Renewed.class).stream()
                    .filter(renewed -> renewed.name().equals("same/place"))
                    .count()
                >= 3);
    assertThat(hold.isValid()).isTrue();
  }

  @Test
  void nodeThatNobodyKnows_isDeleted_andThoseOfOthersOnTheSameSessionAreNot() throws Exception {
    Hold hold = Fleet.take(client, "orphans");
    Hold others = Fleet.take(other, "orphans-of-others");
    Layout paths = new Layout("/locks");
    String parent = paths.of("orphans");
    QueueNode own = QueueNode.parse(curator.getChildren().forPath(parent).get(0));
    String orphan =
        curator
            .create()
            .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
            .withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE)
            .forPath(
                parent
                    + "/"
                    + QueueNode.prefix(own.mode(), true, own.client(), "AAAAAAAAAAAAAAAA"));
    assertThat(curator.checkExists().forPath(orphan)).isNotNull();

    Eventually.until(
        Fleet.AMPLE,
        "the orphan to be deleted",
        () -> curator.checkExists().forPath(orphan) == null);

    assertThat(List.of(hold, others)).allMatch(Hold::isValid);
    assertThat(others.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void nodeThatSomeoneDeleted_isLoss() throws Exception {
    Hold hold = Fleet.take(client, "deleted");
    String parent = new Layout("/locks").of("deleted");

    curator.delete().forPath(parent + "/" + curator.getChildren().forPath(parent).get(0));

    assertThat(Fleet.get(hold.lost()).reason()).isEqualTo(LossReason.GONE);
  }

  @Test
  void nodeOfAWaiterThatSomeoneDeleted_doesNotMakeTwoHolders() throws Exception {
    // No poll finds it out before the holder has left.
    LockOptions patient = LockOptions.defaults().lease(Duration.ofMillis(3_500));
    ZooKeeperServer server = Servers.single();
    try (FaultProxy proxy = FaultProxy.to(server.host(), server.port(), Protocol.ZOOKEEPER);
        CuratorFramework own =
            CuratorFrameworkFactory.newClient(
                proxy.address() + "/apps",
                (int) Servers.SESSION.toMillis(),
                20_000,
                new RetryOneTime(100))) {
      own.start();
      Fenceline third = fleet.client("third", over(own), LEASE);
      Hold hold = client.lock("deleted-waiter", patient).tryAcquire().orElseThrow();
      CompletableFuture<Hold> waiting = other.lock("deleted-waiter", patient).acquireAsync(AMPLE);
      awaitWaiters("deleted-waiter", "other");
      CompletableFuture<Hold> behind = third.lock("deleted-waiter", patient).acquireAsync(AMPLE);
      awaitWaiters("deleted-waiter", "other", "third");
      Eventually.until(AMPLE, "the watches", () -> proxy.count("getData") >= 2);
      proxy.resetCounts();
      String parent = new Layout("/locks").of("deleted-waiter");
      List<String> line =
          curator.getChildren().forPath(parent).stream()
              .sorted(Comparator.comparing(node -> node.replaceFirst(".*\\.", "")))
              .toList();

      curator.delete().forPath(parent + "/" + line.get(1));
      Eventually.until(AMPLE, "a watch of the holder", () -> proxy.count("getData") >= 1);
      hold.release();

      Hold next = Fleet.get(behind);
      next.release();
      assertThat(Fleet.get(waiting).token())
          .as("it has asked again, and was the last in line")
          .isGreaterThan(next.token());
      fleet.close();
    }
  }

  private void awaitWaiters(String name, String... labels) {
    Eventually.until(
        AMPLE,
        "waiters",
        () -> client.inspect(name).waiters().stream().map(LockReport.Waiter::label).toList(),
        found -> found.equals(List.of(labels)));
  }
}
