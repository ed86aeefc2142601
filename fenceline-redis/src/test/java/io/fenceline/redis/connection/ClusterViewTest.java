package io.fenceline.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreUnavailableException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.RedisStores;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nodes that say nothing, too little, or something else about who has which slot. */
class ClusterViewTest {
  private static final Duration LEASE = Duration.ofSeconds(20);

  @RegisterExtension final Clients clients = new Clients();

  private final Driver driver = new Driver(null, ClientOptions.create(), Clients.AMPLE);

  @AfterEach
  void close() {
    driver.close();
  }

  private static void assertServes(Fenceline client, String... names) {
    for (String name : names) {
      assertThat(Clients.acquire(client, name).release()).isEqualTo(ReleaseOutcome.RELEASED);
    }
  }

  @Test
  void nodeThatWasRemoved_isNotBelieved() {
    try (SmallCluster cluster = new SmallCluster(1, 2)) {
      RedisServer removed = cluster.idle(0);
      RedisServer one = cluster.sharing(0);
      RedisServer two = cluster.sharing(1);
      String[] names = {cluster.nameAt(0, "one-"), cluster.nameAt(1, "two-")};
      Fenceline before = clients.connect(SmallCluster.uri(removed, one, two), LEASE);
      assertServes(before, names);
      String id = String.valueOf(removed.command("CLUSTER", "MYID"));
      for (RedisServer node : new RedisServer[] {one, two}) {
        node.command("CLUSTER", "FORGET", id);
      }
      removed.command("CLUSTER", "RESET", "HARD");

      for (RedisServer node : new RedisServer[] {one, two}) {
        node.command("CLIENT", "KILL", "TYPE", "normal"); // So that it asks for the map.
      }

      assertServes(before, names);
      assertServes(clients.connect(SmallCluster.uri(removed, one, two), LEASE), names);
      clients.afterEach(null);
    }
  }

  @Test
  void nodeOfAnotherCluster_isNotBelieved_thoughNobodyElseAnswers() {
    try (SmallCluster cluster = new SmallCluster(0, 1);
        SmallCluster foreign = new SmallCluster(0, 1)) {
      RedisServer own = cluster.sharing(0);
      RedisServer other = foreign.sharing(0);
      Fenceline client = clients.hasty(SmallCluster.uri(own, other), LEASE);
      assertServes(client, "ledger");

      own.kill();
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> client.lock("ledger").tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
      }
      assertThat(other.command("DBSIZE")).isEqualTo(0L);

      own.restart();
      assertServes(client, "ledger");
      assertThat(other.command("DBSIZE")).isEqualTo(0L);
      clients.afterEach(null);
    }
  }

  @Test
  void clusterThatWasBuiltAnew_isUsedAgain() {
    try (SmallCluster cluster = new SmallCluster(0, 1)) {
      RedisServer node = cluster.sharing(0);
      Fenceline client = clients.connect(SmallCluster.uri(node), LEASE);
      assertServes(client, "ledger");

      node.command("FLUSHALL");
      node.command("CLUSTER", "RESET", "HARD");
      node.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
      cluster.awaitWhole();
      node.command("CLIENT", "KILL", "TYPE", "normal");

      assertServes(client, "ledger");
      clients.afterEach(null);
    }
  }

  @Test
  void redirectionWithoutAHost_leadsToTheSameHost() {
    // Here no host is the same host anyway: it stands for this machine.
    assertThat(ClusterTopology.host("", "10.0.0.1")).isEqualTo("10.0.0.1");
    assertThat(ClusterTopology.host("?", "10.0.0.1")).isEqualTo("10.0.0.1");
    assertThat(ClusterTopology.host("10.0.0.2", "10.0.0.1")).isEqualTo("10.0.0.2");
    try (SmallCluster cluster =
        new SmallCluster(0, 2, "cluster-preferred-endpoint-type unknown-endpoint")) {
      RedisServer source = cluster.sharing(0);
      RedisServer target = cluster.sharing(1);
      Fenceline client =
          clients.connect(
              Fenceline.builder()
                  .store(SmallCluster.uri(source))
                  .connectTimeout(Clients.AMPLE)
                  .defaultOptions(LockOptions.defaults().lease(LEASE)));
      String name = cluster.nameAt(0, "moved-");
      assertServes(client, name);
      byte[] counter = Layout.counter(Layout.place(name).bucket());
      String slot = Integer.toString(SlotHash.getSlot(counter));
      String id = String.valueOf(target.command("CLUSTER", "MYID"));
      source.command("FLUSHALL");

      for (RedisServer node : new RedisServer[] {target, source}) {
        node.command("CLUSTER", "SETSLOT", slot, "NODE", id);
      }

      assertServes(client, name);
      assertThat(target.command("DBSIZE")).isEqualTo(1L); // The counter.
      clients.afterEach(null);
    }
  }

  @Test
  void redirectionToTheNodeThatGivesIt_isNoWay_soTheMapIsAskedFor() {
    try (SmallCluster cluster = new SmallCluster(0, 2)) {
      RedisServer moved = cluster.sharing(0);
      RedisServer asked = cluster.sharing(1);
      announce(moved, asked.port(), asked);
      ManualTime time = new ManualTime();
      Stores.Opened opened = Stores.open(SmallCluster.uri(asked), time);

      CompletableFuture<RenewRequest> claimed =
          Stores.claim(opened, claim(opened, cluster.nameAt(0, "moved-"), false));
      Eventually.until(
          Clients.AMPLE,
          "it to be sent on, to where it is",
          () -> String.valueOf(asked.command("INFO", "errorstats")).contains("errorstat_MOVED"));
      announce(moved, moved.port(), asked);

      Eventually.until(
          Clients.AMPLE,
          "the end of the claim",
          () -> {
            time.advance(Duration.ofMillis(20));
            return claimed.isDone();
          });
      assertThat(claimed).isCompleted();
      opened.store().close();
    }
  }

  /** What a node says of its port; returns when another one knows. */
  private static void announce(RedisServer node, int port, RedisServer other) {
    String id = String.valueOf(node.command("CLUSTER", "MYID"));
    node.command("CONFIG", "SET", "cluster-announce-port", Integer.toString(port));
    Eventually.until(
        Clients.AMPLE,
        "the port in the map",
        () -> String.valueOf(other.command("CLUSTER", "SLOTS")).contains(port + ", " + id));
  }

  @Test
  void nodeThatDoesNotKnowItsOwnAddress_isWhereItWasAsked() {
    try (SmallCluster cluster =
        new SmallCluster(0, 1, "cluster-preferred-endpoint-type hostname")) {
      RedisServer node = cluster.sharing(0);
      assertThat(String.valueOf(node.command("CLUSTER", "SLOTS"))).contains("[?, ", "[ip, ]");

      assertServes(clients.connect(SmallCluster.uri(node), LEASE), "ledger");

      clients.afterEach(null);
    }
  }

  @Test
  void seedsThatAreSlowToConnect_haveTheConnectTimeout_notAnOperations() {
    Duration operation = Duration.ofMillis(500);
    try (SmallCluster cluster = new SmallCluster(0, 2, SmallCluster.PATIENT)) {
      RedisServer one = cluster.sharing(0);
      RedisServer two = cluster.sharing(1);
      one.pause();
      two.pause();
      CompletableFuture<Fenceline> connecting;
      try {
        connecting =
            CompletableFuture.supplyAsync(
                () ->
                    clients.connect(
                        Fenceline.builder()
                            .store(SmallCluster.uri(one, two))
                            .connectTimeout(Clients.AMPLE)
                            .operationTimeout(operation)));
        long began = System.nanoTime();
        Eventually.until(
            Clients.AMPLE,
            "more than the time of an operation, for each seed",
            () ->
                connecting.isDone()
                    || System.nanoTime() - began > operation.multipliedBy(6).toNanos());
        assertThat(connecting).isNotDone();
      } finally {
        one.resume();
        two.resume();
      }
      assertServes(Clients.get(connecting), "ledger");
      clients.afterEach(null);
    }
  }

  @Test
  void shardThatIsDown_keepsNobodyFromTheOthers() {
    try (SmallCluster cluster = new SmallCluster(0, 2, SmallCluster.PATIENT)) {
      String uri = SmallCluster.uri(cluster.sharing(0), cluster.sharing(1));
      for (int down = 0; down < 2; down++) { // The first bucket is in one of them.
        cluster.sharing(down).kill();

        Fenceline client = clients.hasty(uri, LEASE);

        assertServes(client, cluster.nameAt(1 - down, "up-"));
        assertThat(client.diagnose())
            .filteredOn(finding -> finding.severity() == Finding.Severity.SERIOUS)
            .anySatisfy(finding -> assertThat(finding.check()).isEqualTo("shards"));
        cluster.sharing(down).restart();
        cluster.awaitWhole();
        assertServes(client, cluster.nameAt(down, "back-"));
      }
      clients.afterEach(null);
    }
  }

  /** As with Redis 6: without messages of shards, one node is listened to for all of them. */
  @Test
  void shardThatIsDown_keepsNoMessagesFromTheOthers() {
    try (SmallCluster cluster = new SmallCluster(0, 2, SmallCluster.PATIENT)) {
      RedisServer[] nodes = {cluster.sharing(0), cluster.sharing(1)};
      for (RedisServer node : nodes) {
        node.command("ACL", "SETUSER", "default", "-spublish");
      }
      ManualTime time = new ManualTime();
      Stores.Opened opened = Stores.open(SmallCluster.uri(nodes), time);
      List<RenewRequest> held = new ArrayList<>();
      List<CompletableFuture<RenewRequest>> waiting = new ArrayList<>();
      for (int i = 0; i < nodes.length; i++) {
        String name = cluster.nameAt(i, "held-");
        held.add(Clients.get(Stores.claim(opened, claim(opened, name, false))));
        waiting.add(Stores.claim(opened, claim(opened, name, true)));
      }
      Eventually.until(Clients.AMPLE, "a listener", () -> listened(nodes[0]) || listened(nodes[1]));
      int down = listened(nodes[0]) ? 0 : 1;

      nodes[down].kill();

      Eventually.until(
          Clients.AMPLE,
          "it to listen elsewhere",
          () -> {
            time.advance(Duration.ofMillis(100));
            return listened(nodes[1 - down]);
          });
      Clients.get(
          opened.store().release(new ReleaseRequest(held.get(1 - down).grant(), Duration.ZERO)));
      Eventually.until(
          Clients.AMPLE,
          "the grant",
          () -> {
            time.advance(Duration.ofMillis(10)); // Should its turn have passed on a busy machine.
            return waiting.get(1 - down).isDone();
          });
      assertThat(waiting.get(1 - down)).isCompleted();
      opened.store().close();
    }
  }

  private static boolean listened(RedisServer node) {
    return !((List<?>) node.command("PUBSUB", "CHANNELS")).isEmpty();
  }

  private static ClaimRequest claim(Stores.Opened opened, String name, boolean waits) {
    return new ClaimRequest(
        name, Owner.draw(opened.random()), Mode.EXCLUSIVE, LEASE, Duration.ZERO, waits);
  }

  /** Failures of which the map knows nothing: here, of a server that is out of memory. */
  @Test
  void shardThatRefusesClaims_isNoReasonToAskForTheMapAllTheTime() {
    try (SmallCluster cluster = new SmallCluster(0, 2)) {
      RedisServer full = cluster.sharing(0);
      ManualTime time = new ManualTime();
      Stores.Opened opened = Stores.open(SmallCluster.uri(full, cluster.sharing(1)), time);
      String name = cluster.nameAt(0, "refused-");
      full.command("CONFIG", "SET", "maxmemory", "1");
      full.resetCommandCounts();

      for (int i = 0; i < 200; i++) {
        assertThat(Stores.claim(opened, claim(opened, name, false))).failsWithin(Clients.AMPLE);
        time.advance(Duration.ofMillis(100));
      }

      assertThat(full.commandCount("cluster|slots")).isBetween(1L, 20L); // In 20 s.
      opened.store().close();
    }
  }

  @Test
  void firstSeedThatRefuses_andOthersSpelledInAnotherWay_areEnough() {
    try (SmallCluster cluster = new SmallCluster(0, 2);
        RedisServer dead = RedisServer.start()) {
      dead.kill();
      String seeds = dead.address() + ",localhost:" + cluster.sharing(0).port();

      Fenceline client = clients.connect("redis-cluster://" + seeds, LEASE);

      assertServes(client, cluster.nameAt(0, "one-"), cluster.nameAt(1, "two-"));
      clients.afterEach(null);
    }
  }

  /** As when a node has died, and its address was given to a node of another Cluster. */
  private static void becomeStranger(RedisServer node) {
    node.command("FLUSHALL");
    node.command("CLUSTER", "RESET", "HARD");
    node.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    Eventually.until(
        Clients.AMPLE,
        "another Cluster",
        () -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
    node.command("CLIENT", "KILL", "TYPE", "normal");
  }

  @Test
  void reusedAddress_isNotServedByWhoeverIsThere() {
    try (SmallCluster cluster = new SmallCluster(0, 2)) {
      RedisServer reused = cluster.sharing(0);
      Fenceline client =
          clients.hasty(SmallCluster.uri(cluster.sharing(0), cluster.sharing(1)), LEASE);
      String lost = cluster.nameAt(0, "lost-");
      String left = cluster.nameAt(1, "left-");
      assertServes(client, lost, left);
      ClusterMap map = map(reused, cluster.sharing(1));
      Clients.get(map.refresh());

      becomeStranger(reused);

      // By another name, so that there is no connection yet.
      assertThat(map.server("localhost", reused.port()).connect())
          .failsWithin(Clients.AMPLE)
          .withThrowableThat()
          .withMessageContaining("is of another Cluster");
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> client.lock(lost).tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        assertServes(client, left);
      }
      assertThat(reused.command("DBSIZE")).isEqualTo(0L);
      Connecting.awaitClosed(map.close());
      clients.afterEach(null);
    }
  }

  /** A map of its own, of which the test knows when it was asked for, and what came of it. */
  private ClusterMap map(RedisServer... seeds) {
    List<ClusterMap> made = new ArrayList<>();
    clients.connect(
        Fenceline.builder()
            .operationTimeout(Duration.ofMillis(500))
            .store(
                (StoreFactory)
                    context -> {
                      made.add(map(context, seeds));
                      return RedisStores.at(SmallCluster.uri(seeds)).open(context);
                    }));
    return made.get(0);
  }

  private ClusterMap map(StoreContext context, RedisServer... seeds) {
    ReplyTimeouts deadlines =
        new ReplyTimeouts(context.time(), context.operationTimeout().toNanos());
    return new ClusterMap(
        Stream.of(seeds).map(seed -> RedisURI.create(seed.uri())).toList(),
        (uri, whenBroken, greeting) ->
            new Server(
                uri.getHost() + ":" + uri.getPort(),
                driver,
                uri,
                context,
                deadlines,
                (channel, message) -> {},
                whenBroken,
                greeting),
        context,
        deadlines);
  }

  @Test
  void reusedAddress_movesNobodyToAnotherCluster_thoughNobodyElseAnswers() {
    try (SmallCluster cluster = new SmallCluster(0, 2)) {
      RedisServer reused = cluster.sharing(0);
      RedisServer silent = cluster.sharing(1);
      String uri = SmallCluster.uri(reused, silent);
      Fenceline holder = clients.connect(uri, LEASE.multipliedBy(10));
      Fenceline other = clients.hasty(uri, LEASE);
      String name = cluster.nameAt(1, "held-");
      Hold hold = Clients.acquire(holder, name);
      assertServes(other, cluster.nameAt(0, "any-"));

      ClusterMap map = map(reused, silent);
      Clients.get(map.refresh());

      silent.pause();
      try {
        becomeStranger(reused);
        for (int i = 0; i < 3; i++) { // Each ends when both were asked, and one of them answered.
          assertThat(map.refresh()).failsWithin(Clients.AMPLE);
        }
        assertThat(map.masters()).hasSize(2);
        reused.resetCommandCounts();
        Eventually.until(
            Clients.AMPLE,
            "it to be asked for the map often enough",
            () -> {
              assertThatThrownBy(() -> other.lock(name).tryAcquire())
                  .isInstanceOf(StoreUnavailableException.class);
              return reused.commandCount("cluster|slots") > 5;
            });
        assertThat(reused.command("DBSIZE")).isEqualTo(0L);
      } finally {
        silent.resume();
      }

      assertThat(hold.isValid()).isTrue();
      Eventually.until(
          Clients.AMPLE, "an answer", () -> other.lock(name).tryAcquire(), Optional::isEmpty);
      Connecting.awaitClosed(map.close());
      clients.afterEach(null);
    }
  }

  @Test
  void idleClient_followsACluster_whoseNodesAreAllReplaced() {
    try (SmallCluster cluster = new SmallCluster(2, 1)) {
      RedisServer first = cluster.sharing(0);
      RedisServer second = cluster.idle(0);
      RedisServer third = cluster.idle(1);
      ManualTime time = new ManualTime();
      Stores.Opened opened = Stores.open(SmallCluster.uri(first, third), time);
      Stores.claimAll(opened, "before-", 1, LEASE);

      String old = String.valueOf(first.command("CLUSTER", "MYID"));
      takeOver(second, first);
      first.resetCommandCounts();
      Eventually.until(
          Clients.AMPLE,
          "the map to be asked for",
          () -> {
            time.advance(Duration.ofSeconds(1));
            return first.commandCount("cluster|slots") > 0 && second.info("role").equals("master");
          });
      third.command("CLUSTER", "REPLICATE", String.valueOf(second.command("CLUSTER", "MYID")));
      first.kill();
      for (RedisServer left : new RedisServer[] {second, third}) {
        left.command("CLUSTER", "FORGET", old);
      }

      CompletableFuture<List<RenewRequest>> claimed =
          CompletableFuture.supplyAsync(() -> Stores.claimAll(opened, "after-", 1, LEASE));
      Eventually.until(
          Clients.AMPLE,
          "a claim",
          () -> {
            time.advance(Duration.ofMillis(100));
            return claimed.isDone();
          });
      assertThat(Clients.get(claimed)).hasSize(1);
      opened.store().close();
    }
  }

  private static void takeOver(RedisServer replica, RedisServer master) {
    replica.command("CLUSTER", "REPLICATE", String.valueOf(master.command("CLUSTER", "MYID")));
    replica.awaitInSync(Clients.AMPLE);
    replica.command("CLUSTER", "FAILOVER", "TAKEOVER");
    Eventually.until(
        Clients.AMPLE, "the old master to follow", () -> master.info("role").equals("slave"));
  }
}
