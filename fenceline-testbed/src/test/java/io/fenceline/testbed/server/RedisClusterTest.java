package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.Eventually;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RedisClusterTest {

  private static final Duration BOUND = Duration.ofSeconds(20);

  @Test
  void threeMastersShareTheKeys_andAReplicaTakesOver() {
    try (RedisCluster cluster = RedisCluster.start()) {
      assertThat(cluster.masters()).hasSize(3);
      assertThat(cluster.replicas()).hasSize(3);
      RedisServer master = cluster.masterOf("key");
      RedisServer replica = cluster.replicaOf(master);
      assertThat(master.command("SET", "key", "value")).isEqualTo("OK");
      Eventually.until(
          BOUND, "the replica's copy", () -> replica.command("DBSIZE"), Long.valueOf(1)::equals);

      replica.command("CLUSTER", "FAILOVER", "TAKEOVER");
      Eventually.until(
          BOUND, replica + " to be a master", () -> replica.info("role"), "master"::equals);

      assertThat(replica.command("GET", "key")).isEqualTo("value");
    }
  }
}
