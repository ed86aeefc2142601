package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.testbed.server.ZooKeeperServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.junit.jupiter.api.Test;

/** A name that was claimed two thousand million times: its sequence does not tell the order. */
class SequenceLimitTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final String NAME = "worn-out";

  @Test
  void orderAndTokensHold_acrossTheEndOfTheSequence() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(Servers.TICK);
        Fleet fleet = new Fleet()) {
      String path = new Layout("/test/fenceline").of(NAME);
      try (CuratorFramework curator = framework(server)) {
        curator.create().creatingParentsIfNeeded().forPath(path);
      }
      server.stop();
      wearOut(server, path, Integer.MAX_VALUE - 2);
      server.restart();

      List<Fenceline> clients = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        clients.add(fleet.client("client-" + i, Servers.store(server.address()), LEASE));
      }
      Hold hold = Fleet.take(clients.get(0), NAME);
      List<CompletableFuture<Hold>> waiting = new ArrayList<>();
      for (int round = 0; round < 3; round++) {
        for (int i = 1; i < clients.size(); i++) {
          waiting.add(clients.get(i).lock(NAME).acquireAsync(Fleet.AMPLE));
          int expected = i;
          Eventually.until(
              Fleet.AMPLE,
              "waiter " + i,
              () -> clients.get(0).inspect(NAME).waiters().size() == expected);
        }
        assertThat(clients.get(0).inspect(NAME).holders())
            .singleElement()
            .satisfies(holder -> assertThat(holder.label()).isEqualTo("client-0"));
        long token = hold.token();
        hold.release();
        for (CompletableFuture<Hold> next : waiting) {
          Hold granted = Fleet.get(next);
          // In order: none of those behind has it.
          assertThat(waiting.stream().filter(CompletableFuture::isDone).count())
              .isEqualTo(waiting.indexOf(next) + 1L);
          assertThat(granted.token()).isGreaterThan(token);
          token = granted.token();
          granted.release();
        }
        waiting.clear();
        hold = Fleet.take(clients.get(0), NAME);
        assertThat(hold.token()).isGreaterThan(token);
      }
      try (CuratorFramework curator = framework(server)) {
        // The proof that the end was reached: the server repeats its last number.
        assertThat(curator.getChildren().forPath(path))
            .singleElement()
            .satisfies(node -> assertThat(node).endsWith(".2147483647"));
      }
    }
  }

  private static CuratorFramework framework(ZooKeeperServer server) {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(server.address(), new RetryOneTime(100));
    curator.start();
    return curator;
  }

  /** Writes the number of claims that a name has had into the server's snapshot. */
  private static void wearOut(ZooKeeperServer server, String path, int claims) throws IOException {
    Path data = server.logFile().resolveSibling("data");
    FileTxnSnapLog log = new FileTxnSnapLog(data.toFile(), data.toFile());
    DataTree tree = new DataTree();
    ConcurrentHashMap<Long, Integer> sessions = new ConcurrentHashMap<>();
    long last = log.restore(tree, sessions, (header, record, digest) -> {});
    tree.getNode(path).stat.setCversion(claims);
    tree.lastProcessedZxid = last + 1;
    log.save(tree, sessions, true);
    log.close();
  }
}
