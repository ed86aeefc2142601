package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Closing;
import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Tool;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A Redis Cluster of three masters with a replica each. */
public final class RedisCluster implements AutoCloseable {

  private static final int NODES = 6;
  private static final Duration BOUND = Duration.ofSeconds(30);

  private final List<RedisServer> nodes = new ArrayList<>();

  private RedisCluster() {}

  /** Starts a cluster that holds a silent node for failed after a second. */
  public static RedisCluster start() {
    return start(Duration.ofSeconds(1));
  }

  /** Starts a cluster of one kind of servers. */
  public static RedisCluster start(RedisKind kind) {
    return start(kind, Duration.ofSeconds(1));
  }

  /** Starts the six nodes; returns when all of them see a whole cluster. */
  public static RedisCluster start(Duration nodeTimeout) {
    return start(RedisKind.REDIS, nodeTimeout);
  }

  private static RedisCluster start(RedisKind kind, Duration nodeTimeout) {
    RedisCluster cluster = new RedisCluster();
    try {
      cluster.startAll(kind, nodeTimeout);
      return cluster;
    } catch (RuntimeException | Error e) {
      cluster.close();
      throw e;
    }
  }

  private void startAll(RedisKind kind, Duration nodeTimeout) {
    for (int i = 0; i < NODES; i++) {
      nodes.add(
          RedisServer.builder()
              .kind(kind)
              .clusterEnabled()
              .config("cluster-node-timeout " + nodeTimeout.toMillis())
              .start());
    }
    List<String> command = new ArrayList<>();
    command.add(kind.client());
    command.addAll(List.of("--cluster", "create"));
    nodes.forEach(node -> command.add(node.clusterAddress()));
    command.addAll(List.of("--cluster-replicas", "1", "--cluster-yes"));
    Tool.run(command.toArray(String[]::new));
    awaitWhole(BOUND);
    Eventually.until(BOUND, "three replicas", () -> replicas().size(), count -> count == NODES / 2);
    replicas().forEach(replica -> replica.awaitInSync(BOUND));
  }

  /** Waits until every running node sees all slots served. */
  public void awaitWhole(Duration bound) {
    for (RedisServer node : nodes) {
      if (node.isAlive()) {
        Eventually.until(
            bound,
            node + " to see all slots served",
            () -> String.valueOf(node.command("CLUSTER", "INFO")),
            info -> info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384"));
      }
    }
  }

  /** All six, running or not. */
  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  /** The running nodes that say that they are masters. */
  public List<RedisServer> masters() {
    return inRole("master");
  }

  /** The running nodes that say that they are replicas. */
  public List<RedisServer> replicas() {
    return inRole("slave");
  }

  private List<RedisServer> inRole(String role) {
    return nodes.stream()
        .filter(ServerProcess::isAlive)
        .filter(node -> role.equals(node.info("role")))
        .toList();
  }

  /** The master that serves a key. */
  public RedisServer masterOf(String key) {
    return masters().stream()
        .filter(node -> serves(node, key))
        .findFirst()
        .orElseThrow(() -> new HarnessException("No master serves the slot of " + key));
  }

  private static boolean serves(RedisServer node, String key) {
    try {
      node.command("EXISTS", key);
      return true;
    } catch (RedisErrorException e) {
      return false; // MOVED
    }
  }

  /** The replica of a master. */
  public RedisServer replicaOf(RedisServer master) {
    String port = Integer.toString(master.port());
    return replicas().stream()
        .filter(node -> port.equals(node.info("master_port")))
        .findFirst()
        .orElseThrow(() -> new HarnessException(master + " has no replica"));
  }

  @Override
  public void close() {
    Closing.servers(nodes);
  }
}
