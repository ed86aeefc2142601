package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class EtcdServerTest {

  private static final Duration BOUND = Duration.ofSeconds(20);

  @Test
  void whatIsPutSurvivesAKill_andCallsAreCounted() {
    try (EtcdServer etcd = EtcdServer.start()) {
      assertThat(etcd.etcdctl("put", "key", "value")).isEqualTo("OK");
      assertThat(etcd.rpcCount("Put")).isEqualTo(1);
      assertThat(etcd.rpcCount("Txn")).isZero();

      etcd.kill();
      etcd.restart();

      assertThat(etcd.etcdctl("get", "key", "--print-value-only")).isEqualTo("value");
    }
  }

  @Test
  void aClusterSurvivesItsLeader() {
    try (EtcdCluster cluster = EtcdCluster.start()) {
      EtcdServer leader = cluster.awaitLeader(BOUND);
      assertThat(leader.etcdctl("put", "key", "value")).isEqualTo("OK");

      leader.kill();
      EtcdServer next = cluster.awaitLeader(BOUND);
      assertThat(next).isNotSameAs(leader);
      assertThat(next.etcdctl("get", "key", "--print-value-only")).isEqualTo("value");

      leader.restart();
      assertThat(leader.etcdctl("get", "key", "--print-value-only")).isEqualTo("value");
      assertThat(cluster.endpoints().split(",")).hasSize(3);
    }
  }
}
