package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Closing;
import io.fenceline.testbed.process.PortTakenException;
import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.process.Starting;
import io.fenceline.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Three ZooKeeper servers that form an ensemble; each can be killed, paused and restarted. */
public final class ZooKeeperEnsemble implements AutoCloseable {

  private static final int MEMBERS = 3;

  private final List<ZooKeeperServer> members = new ArrayList<>();

  private ZooKeeperEnsemble() {}

  /** Starts the members with a tick of half a second. */
  public static ZooKeeperEnsemble start() {
    return start(ZooKeeperServer.defaultTick());
  }

  /** Starts the members; returns when all of them serve. */
  public static ZooKeeperEnsemble start(Duration tick) {
    ZooKeeperServer.requireZooKeeper();
    return PortTakenException.retry(
        () -> {
          ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();
          for (int id = 1; id <= MEMBERS; id++) {
            ensemble.members.add(new ZooKeeperServer(tick, id, ensemble.members));
          }
          Starting.together(ensemble.members);
          return ensemble;
        });
  }

  /** All members, running or not. */
  public List<ZooKeeperServer> members() {
    return List.copyOf(members);
  }

  /** Waits for a member that leads. */
  public ZooKeeperServer awaitLeader(Duration bound) {
    return Eventually.until(
            bound,
            "a ZooKeeper leader",
            () -> members.stream().filter(ZooKeeperEnsemble::leads).toList(),
            leaders -> !leaders.isEmpty())
        .get(0);
  }

  private static boolean leads(ZooKeeperServer member) {
    return member.isAlive() && member.state() != ProcessState.STOPPED && member.isLeader();
  }

  /** The addresses for clients, separated by commas. */
  public String connectString() {
    return members.stream().map(ServerProcess::address).collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    Closing.servers(members);
  }
}
