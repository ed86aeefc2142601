package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.event.LossReason;
import io.fenceline.zookeeper.layout.Layout;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Folders that someone removes while a client is connected. */
class FoldersTest {

  @ParameterizedTest
  @ValueSource(strings = {"shard", "locks", "root", "parent"})
  void folderThatSomeoneRemoved_isMadeAgain(String which) throws Exception {
    String parent = "/removed-" + which;
    Layout paths = new Layout(parent + "/fenceline");
    String removed =
        switch (which) {
          case "shard" -> paths.shardOf("job");
          case "locks" -> paths.locks;
          case "root" -> paths.root;
          default -> parent;
        };
    try (CuratorFramework curator =
            CuratorFrameworkFactory.newClient(
                Servers.single().address(),
                (int) Servers.SESSION.toMillis(),
                20_000,
                new RetryOneTime(100));
        Fleet fleet = new Fleet()) {
      curator.start();
      ZooKeeperStores locks = ZooKeeperStores.from(curator).root(paths.root).tick(Servers.TICK);
      Fenceline client = fleet.client("client", locks, Duration.ofSeconds(3));
      Fleet.take(client, "job").release();
      Hold before = Fleet.take(client, "job");

      curator.delete().deletingChildrenIfNeeded().forPath(removed);

      assertThat(Fleet.get(before.lost()).reason()).isEqualTo(LossReason.GONE);
      Hold after = Fleet.get(client.lock("job").acquireAsync(Fleet.AMPLE));
      assertThat(after.token()).isGreaterThan(before.token());
      assertThat(after.release()).isEqualTo(ReleaseOutcome.RELEASED);
      // Whoever connects next finds the format that it knows.
      Fenceline next = fleet.client("next", locks, Duration.ofSeconds(3));
      assertThat(next.inspect("job").isFree()).isTrue();
      assertThat(curator.checkExists().forPath(paths.heartbeat)).isNotNull();
    }
  }
}
