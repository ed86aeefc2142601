package io.fenceline.redis.support;

import io.fenceline.redis.layout.Layout;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.lettuce.core.cluster.SlotHash;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A Cluster of masters without replicas, as small as a test wants it. */
public final class SmallCluster implements AutoCloseable {
  private static final int SLOTS = SlotHash.SLOT_COUNT;

  /**
   * For tests that stop a node for a while: else the others hold it for failed, find themselves in
   * a minority, and serve nobody, for some seconds more.
   */
  public static final String PATIENT = "cluster-node-timeout 60000";

  final List<RedisServer> nodes = new ArrayList<>();
  private final int sharing;

  /**
   * Starts nodes, of which the last ones share the slots.
   *
   * @param idle how many nodes have no slots
   */
  public SmallCluster(int idle, int sharing, String... config) {
    this.sharing = sharing;
    for (int i = 0; i < idle + sharing; i++) {
      RedisServer.Builder builder = RedisServer.builder().clusterEnabled();
      builder.config("cluster-node-timeout 1500").config("cluster-require-full-coverage no");
      List.of(config).forEach(builder::config);
      nodes.add(builder.start());
    }
    for (int i = 0; i < sharing; i++) {
      RedisServer node = nodes.get(idle + i);
      node.command(
          "CLUSTER",
          "ADDSLOTSRANGE",
          Integer.toString(i * SLOTS / sharing),
          Integer.toString((i + 1) * SLOTS / sharing - 1));
      node.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
    }
    for (RedisServer node : nodes.subList(1, nodes.size())) {
      String bus = String.valueOf(((List<?>) node.command("CONFIG", "GET", "cluster-port")).get(1));
      nodes.get(0).command("CLUSTER", "MEET", node.host(), Integer.toString(node.port()), bus);
    }
    awaitWhole();
  }

  public void awaitWhole() {
    for (RedisServer node : nodes) {
      Eventually.until(
          Clients.AMPLE,
          node + " to see all slots served",
          () -> String.valueOf(node.command("CLUSTER", "INFO")),
          info -> info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS));
    }
  }

  public RedisServer idle(int index) {
    return nodes.get(index);
  }

  public RedisServer sharing(int index) {
    return nodes.get(nodes.size() - sharing + index);
  }

  /** A name whose slot a node has; others for other salts. */
  public String nameAt(int index, String salt) {
    for (int i = 0; ; i++) {
      String name = salt + i;
      int slot = SlotHash.getSlot(Layout.counter(Layout.place(name).bucket()));
      if (slot * sharing / SLOTS == index) {
        return name;
      }
    }
  }

  public static String uri(RedisServer... seeds) {
    return List.of(seeds).stream()
        .map(RedisServer::address)
        .collect(Collectors.joining(",", "redis-cluster://", ""));
  }

  @Override
  public void close() {
    nodes.forEach(RedisServer::close);
  }
}
