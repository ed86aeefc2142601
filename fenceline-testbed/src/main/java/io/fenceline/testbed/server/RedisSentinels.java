package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Closing;
import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Starting;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A master, its replica, and three Sentinels that make the replica the master when it fails. */
public final class RedisSentinels implements AutoCloseable {

  public static final String MASTER_NAME = "fenceline";

  private static final Duration BOUND = Duration.ofSeconds(30);

  private final List<RedisServer> servers = new ArrayList<>();
  private final List<RedisSentinel> sentinels = new ArrayList<>();

  private RedisSentinels() {}

  /** Starts all five, with Sentinels that hold a silent master for down after 500 ms. */
  public static RedisSentinels start() {
    return start(Duration.ofMillis(500));
  }

  /** Starts all five of one kind. */
  public static RedisSentinels start(RedisKind kind) {
    return start(kind, Duration.ofMillis(500));
  }

  /** Starts all five; returns when the Sentinels know each other and the replica. */
  public static RedisSentinels start(Duration downAfter) {
    return start(RedisKind.REDIS, downAfter);
  }

  private static RedisSentinels start(RedisKind kind, Duration downAfter) {
    return PortTakenException.retry(
        () -> {
          RedisSentinels group = new RedisSentinels();
          try {
            group.startAll(kind, downAfter);
            return group;
          } catch (RuntimeException | Error e) {
            group.close();
            throw e;
          }
        });
  }

  private void startAll(RedisKind kind, Duration downAfter) {
    RedisServer master = RedisServer.builder().kind(kind).start();
    servers.add(master);
    RedisServer replica = RedisServer.builder().kind(kind).replicaOf(master).start();
    servers.add(replica);
    replica.awaitInSync(BOUND);
    for (int i = 0; i < 3; i++) {
      sentinels.add(new RedisSentinel(kind, master, downAfter));
    }
    Starting.together(sentinels);
    for (RedisSentinel sentinel : sentinels) {
      Eventually.until(
          BOUND, sentinel + " to know the group", sentinel::masterView, RedisSentinels::isComplete);
    }
  }

  private static boolean isComplete(Map<String, String> view) {
    return "1".equals(view.get("num-slaves")) && "2".equals(view.get("num-other-sentinels"));
  }

  /** The server that the first Sentinel that answers names as the master. */
  public RedisServer master() {
    Map<String, String> view =
        sentinels.stream()
            .filter(ServerProcess::isAlive)
            .findFirst()
            .orElseThrow(() -> new HarnessException("No Sentinel runs"))
            .masterView();
    return servers.stream()
        .filter(server -> Integer.toString(server.port()).equals(view.get("port")))
        .findFirst()
        .orElseThrow(() -> new HarnessException("The Sentinels name a stranger: " + view));
  }

  /** The server that is not the {@link #master}. */
  public RedisServer replica() {
    RedisServer master = master();
    return servers.get(0) == master ? servers.get(1) : servers.get(0);
  }

  /** Waits until {@code server} is the master by its own word and that of all running Sentinels. */
  public void awaitMaster(RedisServer server, Duration bound) {
    String port = Integer.toString(server.port());
    Eventually.until(
        bound,
        server + " to be the master",
        () ->
            "master".equals(server.info("role"))
                && sentinels.stream()
                    .filter(ServerProcess::isAlive)
                    .allMatch(sentinel -> port.equals(sentinel.masterView().get("port"))));
  }

  public List<RedisSentinel> sentinels() {
    return List.copyOf(sentinels);
  }

  /** The two servers, in the order of their start. */
  public List<RedisServer> servers() {
    return List.copyOf(servers);
  }

  @Override
  public void close() {
    List<ServerProcess> all = new ArrayList<>(sentinels);
    all.addAll(servers);
    Closing.servers(all);
  }
}
