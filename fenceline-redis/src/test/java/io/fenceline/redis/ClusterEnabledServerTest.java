package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.ReplicaWait;
import io.fenceline.redis.connection.Topologies;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.redis.support.Stores;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.StoreContext;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.ManualTime;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A node of a Cluster behind a URI of a single server, as managed services hand it out. */
class ClusterEnabledServerTest {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final int MANY = 40;

  private static SmallCluster cluster;

  @RegisterExtension final Clients clients = new Clients();

  @BeforeAll
  static void start() {
    cluster = new SmallCluster(0, 2);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static void assertRenews(Stores.Opened opened, String prefix) {
    List<RenewRequest> holds = Stores.claimAll(opened, prefix, MANY, LEASE);
    for (int round = 0; round < 2; round++) {
      opened
          .store()
          .renew(holds)
          .forEach(answer -> assertThat(Clients.get(answer)).isInstanceOf(Renewal.Renewed.class));
    }
    opened.store().close();
  }

  @Test
  void manyHolds_areRenewed_andAllSlotsAreReached() {
    assertRenews(Stores.open(cluster.sharing(0).uri()), "many-");
  }

  @Test
  void doctor_findsNothing_becauseItWorks() {
    Fenceline client = clients.connect(cluster.sharing(0).uri(), LEASE);

    assertThat(client.diagnose())
        .filteredOn(finding -> finding.severity() == Finding.Severity.SERIOUS)
        .isEmpty();
    assertThat(client.guarantees().onFailover()).doesNotContain("there is no failover");
  }

  private static String hidden(RedisServer node) {
    node.command("ACL", "SETUSER", "app", "on", ">app", "~*", "&*", "+@all", "-cluster");
    return "redis://app:app@" + node.address();
  }

  @Test
  void serverThatDoesNotShowItsCluster_isUsedAlone_ifItHasAllSlots() {
    try (SmallCluster alone = new SmallCluster(0, 1)) {
      assertRenews(Stores.open(hidden(alone.sharing(0))), "hidden-");
    }
    assertThatThrownBy(() -> Stores.open(hidden(cluster.sharing(0))))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("cluster|slots");
  }

  /** Behind a proxy, which does not say that it is a Cluster, but is one. */
  @Test
  void serverThatOnlyRefusesKeysOfSeveralSlots_isServedBucketByBucket() {
    try (SmallCluster alone = new SmallCluster(0, 1)) {
      Random random = new Random();
      StoreContext context =
          new StoreContext(
              new ClientInfo("test", "localhost", 1),
              new ManualTime(),
              random,
              Duration.ofSeconds(30),
              Duration.ofSeconds(30));
      Driver driver = new Driver(null, ClientOptions.create(), Duration.ofSeconds(30));
      Topologies.Settings settings =
          new Topologies.Settings(
              Topologies.Kind.SINGLE,
              List.of(RedisURI.create(alone.sharing(0).uri())),
              ClientOptions.create(),
              null,
              "proxy");
      RedisStore store =
          new RedisStore(
              "proxy",
              RedisGuarantees.of("redis", Topologies.Kind.SINGLE, Durability.NONE),
              ReplicaWait.NONE,
              listener -> Topologies.of(settings, driver, context, listener),
              driver,
              context,
              true);
      store.topology().connect();

      assertRenews(new Stores.Opened(store, random), "alone-");
    }
  }
}
