package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class EtcdClusterCutOffTest {

  private static final Duration BOUND = Duration.ofSeconds(40);

  @Test
  void aLeaderThatIsCutOff_isReplacedByTheOthers_andFollowsOnceItIsHealed() {
    try (EtcdCluster cluster = EtcdCluster.startWithPeerProxies()) {
      EtcdServer leader = cluster.awaitLeader(BOUND);
      List<EtcdServer> others =
          cluster.members().stream().filter(member -> member != leader).toList();
      try (Partition partition = cluster.cutOff(leader)) {
        Eventually.until(
            BOUND, "another leader", () -> others.stream().anyMatch(EtcdServer::isLeader));
        Eventually.until(BOUND, "the old one to notice", () -> !leader.hasLeader());
        assertThat(partition.timesApplied()).isPositive();
        assertThat(others.get(0).etcdctl("put", "key", "value")).isEqualTo("OK");
        assertThat(leader.etcdctl("get", "key", "--consistency=s")).as("cut off").isEmpty();
      }
      Eventually.until(
          BOUND,
          "the old one to follow",
          () -> leader.etcdctl("get", "key", "--consistency=s").contains("value"));
    }
  }
}
