package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.event.LossReason;
import io.fenceline.event.Renewed;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A session with more nodes than one answer tells, below a chroot. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
class ManyHoldsTest {
  private static final Duration LEASE = Duration.ofMillis(4_500);
  private static final int HOLDS = 1_500;

  /** A slash takes three characters of a path: long enough for a sweep in sixteen parts. */
  private static final String LONG_NAME = "/".repeat(150);

  private static final int PARTS_OF_SWEEP = 16;

  private final Fleet fleet = new Fleet();
  private final List<Hold> holds = new ArrayList<>();
  private final Layout paths = new Layout("/locks");
  private FaultProxy proxy;
  private CuratorFramework curator;
  private Fenceline client;

  @BeforeAll
  void takeThem() throws Exception {
    try (CuratorFramework plain = curator(Servers.single().address())) {
      plain.create().orSetData().forPath("/many");
    }
    proxy = FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    curator = curator(proxy.address() + "/many");
    client =
        fleet.client(
            "many", ZooKeeperStores.from(curator).root("/locks").tick(Servers.TICK), LEASE);
    List<CompletableFuture<Optional<Hold>>> taken = new ArrayList<>();
    for (int i = 0; i < HOLDS; i++) {
      taken.add(client.lock(LONG_NAME + i).tryAcquireAsync());
    }
    for (int i = 0; i < HOLDS; i++) {
      holds.add(hold(LONG_NAME + i, taken.get(i)));
    }
  }

  /** What one test has lost on a busy machine is not missed by the next. */
  @BeforeEach
  void takeAgainWhatWasLost() {
    for (int i = 0; i < HOLDS; i++) {
      if (!holds.get(i).isValid()) {
        String name = LONG_NAME + i;
        holds.set(i, hold(name, client.lock(name).tryAcquireAsync()));
      }
    }
  }

  /** So many at once may take a busy server longer than one may take: that one is asked again. */
  private Hold hold(String name, CompletableFuture<Optional<Hold>> asked) {
    try {
      return Fleet.get(asked).orElseThrow();
    } catch (AssertionError e) {
      return Eventually.until(
              Fleet.AMPLE, name, () -> client.lock(name).tryAcquire(), Optional::isPresent)
          .orElseThrow();
    }
  }

  private static CuratorFramework curator(String servers) {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(
            servers, (int) Servers.SESSION.toMillis(), 20_000, new RetryOneTime(100));
    curator.start();
    return curator;
  }

  @AfterAll
  void close() {
    fleet.close();
    curator.close();
    proxy.close();
  }

  private String nodeOf(String name) throws Exception {
    String parent = paths.of(name);
    return parent + "/" + curator.getChildren().forPath(parent).get(0);
  }

  private long renewals() {
    return fleet.heard(Renewed.class).size();
  }

  @Test
  void renewals_askForTheirOwnNodes_andForNoMore() {
    List<Integer> asked = new CopyOnWriteArrayList<>();
    Fault looking =
        proxy.holdReply(
            Trigger.every(
                request -> {
                  if (request.is("multiRead")) {
                    asked.add(request.text().split("/X\\.", -1).length - 1);
                  }
                  return false;
                }));
    proxy.resetCounts();
    long start = System.nanoTime();
    long before = renewals();
    Eventually.until(Fleet.AMPLE, "two rounds", () -> renewals() - before >= 2 * HOLDS);
    looking.lift();
    long listings = proxy.count("getEphemerals");
    long checks = (System.nanoTime() - start) / (Servers.SESSION.toNanos() / 2) + 2;
    long renewed = renewals() - before;

    // Each renewal is one read of one node; some were under way before or after.
    long reads = asked.stream().mapToInt(Integer::intValue).sum();
    assertThat(reads).isBetween(renewed - HOLDS, renewed + HOLDS);
    assertThat(asked).allMatch(size -> size > 0 && size <= 500);
    // Together, not one by one: as many as fit into 300 KB.
    assertThat(asked.size()).isLessThan((int) (reads / 50));
    // Listings go with heartbeats, not with renewals.
    assertThat(listings).isLessThanOrEqualTo(checks * PARTS_OF_SWEEP);
    assertThat(holds).allMatch(Hold::isValid);
  }

  @Test
  void nodeThatSomeoneDeleted_isLoss_ofThatHoldOnly() throws Exception {
    Hold hold = Fleet.take(client, "deleted-beside-many");

    curator.delete().forPath(nodeOf("deleted-beside-many"));

    assertThat(Fleet.get(hold.lost()).reason()).isEqualTo(LossReason.GONE);
    assertThat(holds).allMatch(Hold::isValid);
  }

  @Test
  void nodeThatSomeoneDeleted_isToldByTheSweep_whereNobodyRenews() {
    LockOptions fixed = LockOptions.defaults().fixedLease(LEASE);
    // A sweep may begin too late for one lease.
    Eventually.until(
        Fleet.AMPLE,
        "the sweep to tell",
        () -> {
          Hold hold = client.lock("fixed-beside-many", fixed).acquire(Fleet.AMPLE);
          curator.delete().forPath(nodeOf("fixed-beside-many"));
          return Fleet.get(hold.lost()).reason() == LossReason.GONE;
        });
    assertThat(holds).allMatch(Hold::isValid);
  }

  @Test
  void nodesThatNobodyKnows_areDeleted_inWhateverFolder() throws Exception {
    QueueNode own = QueueNode.parse(nodeOf(LONG_NAME + 0).replaceFirst(".*/", ""));
    List<String> orphans = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      String prefix =
          QueueNode.prefix(own.mode(), true, own.client(), "AAAAAAAAAAAAAAA" + (i % 10));
      orphans.add(
          curator
              .create()
              .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
              .withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE)
              .forPath(paths.of(LONG_NAME + i) + "/" + prefix));
    }

    for (String orphan : orphans) {
      Eventually.until(
          Fleet.AMPLE, "an orphan to go", () -> curator.checkExists().forPath(orphan) == null);
    }
    assertThat(holds).allMatch(Hold::isValid);
  }

  @Test
  void connectionThatBreaksUnderARenewal_losesNothing() {
    Fault cut = proxy.cutBeforeReply(Trigger.nth(2, request -> request.is("multiRead")));
    Eventually.until(Fleet.AMPLE, "the cut", () -> cut.timesApplied() == 1);

    long before = renewals();
    Eventually.until(Fleet.AMPLE, "two rounds", () -> renewals() - before >= 2 * HOLDS);

    assertThat(holds).allMatch(Hold::isValid);
  }
}
