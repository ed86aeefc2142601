package io.fenceline.redis.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.redis.RedisStores;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.Replication;
import io.fenceline.redis.support.Stores;
import io.fenceline.redis.support.Uris;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shards that fail, and slots that move. One cluster for all tests: each leaves it whole. */
class ClusterFaultTest {
  private static RedisCluster cluster;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start();
    // Else one dead shard stops the others, too.
    cluster.nodes().forEach(n -> n.command("CONFIG", "SET", "cluster-require-full-coverage", "no"));
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static String head(String name) {
    return new String(Layout.place(name).keys()[0], StandardCharsets.UTF_8);
  }

  private static long evals(RedisServer server) {
    return server.commandCount("evalsha") + server.commandCount("eval");
  }

  @Test
  void renewals_areOneCommandForEachBucket() {
    Stores.Opened opened = Stores.open(Uris.of(cluster));
    List<RenewRequest> holds = Stores.claimAll(opened, "many-", 500, Duration.ofMinutes(5));
    long buckets =
        holds.stream()
            .map(hold -> Layout.place(hold.grant().claim().name()).bucket())
            .collect(Collectors.toSet())
            .size();
    List<RedisServer> masters = cluster.masters();
    masters.forEach(RedisServer::resetCommandCounts);

    opened
        .store()
        .renew(holds)
        .forEach(a -> assertThat(Clients.get(a)).isInstanceOf(Renewal.Renewed.class));

    assertThat(masters.stream().mapToLong(ClusterFaultTest::evals).sum()).isEqualTo(buckets);
    opened.store().close();
  }

  @Test
  void deadShard_doesNotDelayTheRenewalsOfTheOthers() {
    Duration lease = Duration.ofSeconds(6);
    Fenceline client = clients.connect(Uris.of(cluster), lease);
    Map<RedisServer, Hold> byMaster = new HashMap<>();
    for (int i = 0; byMaster.size() < 3; i++) {
      String name = "shard-" + i;
      RedisServer master = cluster.masterOf(head(name));
      if (!byMaster.containsKey(master)) {
        byMaster.put(master, Clients.acquire(client, name));
      }
    }
    RedisServer dead = byMaster.keySet().iterator().next();
    RedisServer itsReplica = cluster.replicaOf(dead);

    itsReplica.pause();
    dead.pause();
    try {
      assertThat(dead.state()).isEqualTo(ProcessState.STOPPED);
      Clients.get(byMaster.get(dead).lost());
      long start = System.nanoTime();
      Eventually.until(
          Clients.AMPLE,
          "another lease to pass",
          () -> System.nanoTime() - start > lease.toNanos());

      byMaster.forEach((master, hold) -> assertThat(hold.isValid()).isEqualTo(master != dead));
    } finally {
      dead.resume();
      itsReplica.resume();
    }
    cluster.awaitWhole(Clients.AMPLE);
    Hold again = Clients.acquire(client, byMaster.get(dead).name());
    assertThat(again.token()).isGreaterThan(byMaster.get(dead).token());
  }

  @Test
  void takeoverByAReplicaThatLacksTheLock_isALossThatIsTold_andTokensRise() {
    Duration lease = Duration.ofSeconds(4);
    Fenceline client = clients.connect(Uris.of(cluster), lease);
    Fenceline other = clients.connect(Uris.of(cluster), lease);
    RedisServer master = cluster.masterOf(head("takeover"));
    RedisServer replica = cluster.replicaOf(master);
    Replication.cut(master, replica);
    Hold hold = Clients.acquire(client, "takeover");

    master.kill();
    replica.command("CLUSTER", "FAILOVER", "TAKEOVER");

    Eventually.until(Clients.AMPLE, "the takeover", () -> replica.info("role").equals("master"));
    assertThat(master.isAlive()).isFalse();
    Clients.get(hold.lost());
    Hold next = Clients.acquire(other, "takeover");
    assertThat(next.token()).isGreaterThan(hold.token());
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    assertThat(next.isValid()).isTrue();
    assertThat(replica.command("EXISTS", head("takeover"))).isEqualTo(1L);

    master.restart();
    Eventually.until(
        Clients.AMPLE, "the old master to follow", () -> master.info("role").equals("slave"));
    master.awaitInSync(Clients.AMPLE);
    cluster.awaitWhole(Clients.AMPLE);
  }

  @Test
  void idleClient_asksForTheMapNoMore_whenAFailoverIsOver() {
    Fenceline client = clients.connect(Uris.of(cluster), Duration.ofSeconds(20));
    Clients.acquire(client, "idle").release();
    RedisServer master = cluster.masterOf(head("idle"));
    RedisServer replica = cluster.replicaOf(master);

    master.kill();
    replica.command("CLUSTER", "FAILOVER", "TAKEOVER");

    Eventually.until(Clients.AMPLE, "the takeover", () -> replica.info("role").equals("master"));
    long[] last = {-1, 0};
    Eventually.until(
        Clients.AMPLE,
        "three seconds without a question",
        () -> {
          long asked =
              cluster.nodes().stream()
                  .filter(RedisServer::isAlive)
                  .mapToLong(node -> node.commandCount("cluster|slots"))
                  .sum();
          if (asked != last[0]) {
            last[0] = asked;
            last[1] = System.nanoTime();
          }
          return System.nanoTime() - last[1] > Duration.ofSeconds(3).toNanos();
        });

    assertThat(Clients.acquire(client, "idle").release()).isEqualTo(ReleaseOutcome.RELEASED);
    master.restart();
    Eventually.until(
        Clients.AMPLE, "the old master to follow", () -> master.info("role").equals("slave"));
    master.awaitInSync(Clients.AMPLE);
    cluster.awaitWhole(Clients.AMPLE);
  }

  @Test
  void slotThatMigrates_keepsItsHolds_andServesOthersWhenItIsDone() {
    Duration lease = Duration.ofSeconds(4);
    Fenceline client = clients.connect(Uris.of(cluster), lease);
    Fenceline other = clients.connect(Uris.of(cluster), lease);
    String name = "migrating";
    String slot = Integer.toString(SlotHash.getSlot(head(name).getBytes(StandardCharsets.UTF_8)));
    RedisServer source = cluster.masterOf(head(name));
    RedisServer target = cluster.masters().stream().filter(m -> m != source).findFirst().get();
    Hold hold = Clients.acquire(client, name);

    target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
    source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
    passMoreThan(lease);
    assertThat(hold.isValid()).isTrue(); // Renewed where it was,
    migrate(source, target, head(name));
    assertThat(source.command("CLUSTER", "COUNTKEYSINSLOT", slot)).isNotEqualTo(0L); // the counter
    passMoreThan(lease);
    assertThat(hold.isValid()).isTrue(); // and renewed where it has gone.
    CompletableFuture<Hold> waiting = other.lock(name).acquireAsync(Clients.AMPLE);
    migrate(source, target, new String(Layout.place(name).keys()[4], StandardCharsets.UTF_8));
    for (RedisServer node : List.of(target, source)) {
      node.command("CLUSTER", "SETSLOT", slot, "NODE", id(target));
    }

    assertThat(cluster.masterOf(head(name))).isSameAs(target);
    Eventually.until(
        Clients.AMPLE, "a waiter at the new place", () -> !other.inspect(name).waiters().isEmpty());
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
    assertThat(Clients.get(waiting).token()).isGreaterThan(hold.token());
  }

  /** No node serves several keys of a slot on its way unless it has them all: claims wait. */
  @Test
  void claimInASlotThatMigrates_waitsForItsNewPlace_alsoWhereReplicasAreWaitedFor() {
    Fenceline client =
        clients.connect(Uris.of(cluster) + "?wait=1&waitTimeout=2s", Duration.ofSeconds(20));
    String name = "asked-and-waited-for";
    String slot = Integer.toString(SlotHash.getSlot(head(name).getBytes(StandardCharsets.UTF_8)));
    RedisServer source = cluster.masterOf(head(name));
    RedisServer target = cluster.masters().stream().filter(m -> m != source).findFirst().get();
    target.resetCommandCounts();

    target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source));
    source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target));
    CompletableFuture<Hold> claimed = client.lock(name).acquireAsync(Clients.AMPLE);
    Eventually.until(
        Clients.AMPLE, "the target to be asked", () -> target.commandCount("asking") > 2);
    assertThat(claimed).isNotDone();
    for (RedisServer node : List.of(target, source)) {
      node.command("CLUSTER", "SETSLOT", slot, "NODE", id(target));
    }

    Hold hold = Clients.get(claimed);
    assertThat(target.commandCount("wait")).isEqualTo(1);
    assertThat(target.command("EXISTS", head(name))).isEqualTo(1L);
    assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
  }

  @Test
  void masterThatIsSlowToConnect_hasTheConnectTimeout_notAnOperations() {
    Duration operation = Duration.ofMillis(500);
    RedisServer slow = cluster.masterOf(head("slow"));
    RedisServer itsReplica = cluster.replicaOf(slow);
    List<RedisServer> others = cluster.masters().stream().filter(m -> m != slow).toList();
    others.forEach(RedisServer::resetCommandCounts);
    itsReplica.pause(); // Else it might take over.
    slow.pause();
    CompletableFuture<Fenceline> connecting;
    try {
      connecting =
          CompletableFuture.supplyAsync(
              () ->
                  clients.connect(
                      Fenceline.builder()
                          .store(Uris.of(cluster))
                          .connectTimeout(Clients.AMPLE)
                          .operationTimeout(operation)));
      for (RedisServer other : others) {
        Eventually.until(Clients.AMPLE, "connections", () -> other.commandCount("hello") > 0);
      }
      passMoreThan(operation.multipliedBy(6));
      assertThat(connecting).isNotDone();
    } finally {
      slow.resume();
      itsReplica.resume();
    }

    assertThat(Clients.acquire(Clients.get(connecting), "slow").isValid()).isTrue();
    cluster.awaitWhole(Clients.AMPLE);
  }

  @Test
  void givenClientOfACluster_isEnough() {
    try (RedisClusterClient given = RedisClusterClient.create(cluster.masters().get(0).uri())) {
      Fenceline client = clients.connect(Fenceline.builder().store(RedisStores.from(given)));
      Hold hold = Clients.acquire(client, "given");

      assertThat(cluster.masterOf(head("given")).command("EXISTS", head("given"))).isEqualTo(1L);
      assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      client.close();
      // It is the caller's: still usable after ours is closed.
      assertThat(given.connect().sync().ping()).isEqualTo("PONG");
    }
  }

  private static void passMoreThan(Duration lease) {
    long start = System.nanoTime();
    Eventually.until(
        Clients.AMPLE, "a lease to pass", () -> System.nanoTime() - start > lease.toNanos());
  }

  private static String id(RedisServer node) {
    return String.valueOf(node.command("CLUSTER", "MYID"));
  }

  private static void migrate(RedisServer source, RedisServer target, String key) {
    assertThat(
            source.command(
                "MIGRATE", target.host(), Integer.toString(target.port()), key, "0", "5000"))
        .isEqualTo("OK");
  }
}
