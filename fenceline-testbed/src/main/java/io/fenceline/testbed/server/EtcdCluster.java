package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Closing;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.process.Sockets;
import io.fenceline.testbed.process.Starting;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Three etcd servers that form a cluster; each can be killed, paused and restarted. */
public final class EtcdCluster implements AutoCloseable {

  private static final int MEMBERS = 3;

  private final List<EtcdServer> members = new ArrayList<>();

  private EtcdCluster() {}

  /**
   * Starts the members; returns when all know a leader.
   *
   * @param options etcd's own, such as {@code --election-timeout=500}
   */
  public static EtcdCluster start(String... options) {
    return start(false, options);
  }

  /**
   * As {@link #start}, with members that speak to each other through proxies, so that they can be
   * {@linkplain #cutOff cut off}.
   */
  public static EtcdCluster startWithPeerProxies(String... options) {
    return start(true, options);
  }

  private static EtcdCluster start(boolean peerProxies, String... options) {
    return PortTakenException.retry(
        () -> {
          EtcdCluster cluster = new EtcdCluster();
          for (int i = 1; i <= MEMBERS; i++) {
            cluster.members.add(
                new EtcdServer("m" + i, cluster.members, List.of(options), peerProxies));
          }
          Starting.together(cluster.members);
          return cluster;
        });
  }

  /** All members, running or not. */
  public List<EtcdServer> members() {
    return List.copyOf(members);
  }

  /** Waits for a member that says that it is the leader. */
  public EtcdServer awaitLeader(Duration bound) {
    return Eventually.until(
            bound,
            "an etcd leader",
            () -> members.stream().filter(EtcdCluster::leads).toList(),
            leaders -> !leaders.isEmpty())
        .get(0);
  }

  /**
   * Cuts a member off from the others, in both directions: what they have sent to each other is
   * swallowed from now on. Clients still reach all of them.
   */
  public Partition cutOff(EtcdServer member) {
    long pid = member.pid();
    List<Fault> faults = new ArrayList<>();
    for (EtcdServer each : members) {
      // Every member is called at one address, so that who calls is told by the caller's socket.
      faults.add(
          each == member
              ? each.peerProxy().blackHole(Direction.BOTH)
              : each.peerProxy()
                  .blackHole(Direction.BOTH, caller -> Sockets.owns(pid, caller.getPort())));
    }
    return new Partition(faults);
  }

  private static boolean leads(EtcdServer member) {
    return member.isAlive() && member.state() != ProcessState.STOPPED && member.isLeader();
  }

  /** The URLs for clients, separated by commas. */
  public String endpoints() {
    return members.stream().map(EtcdServer::endpoint).collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    Closing.servers(members);
  }
}
