package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.event.Endangered;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.process.PortLease;
import io.fenceline.testbed.proxy.Direction;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A follower that the others can't reach any more, and a holder on its side. The follower does not
 * notice for long (its {@code syncLimit} is high), and goes on answering reads.
 */
class CutOffFollowerTest {
  private static final Duration LEASE = Duration.ofMillis(4_500);
  private static final int CUT_OFF = 1;

  @TempDir Path folder;

  private final List<PortLease> ports = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();
  private final List<JavaProcess> servers = new ArrayList<>();
  private final int[] quorumPorts = new int[4];
  private final int[] electionPorts = new int[4];
  private final int[] clientPorts = new int[4];

  /** One that no outgoing connection takes before the server is there. */
  private int freePort() {
    PortLease lease = PortLease.take();
    ports.add(lease);
    return lease.port();
  }

  private int behindProxy(int port) {
    FaultProxy proxy = FaultProxy.to("127.0.0.1", port, Protocol.BYTES);
    proxies.add(proxy);
    return proxy.port();
  }

  /** What server {@code id} believes of the others: the cut-off one is reached by proxies only. */
  private void start(int id) throws IOException {
    Path data = Files.createDirectories(folder.resolve("data-" + id));
    Files.writeString(data.resolve("myid"), Integer.toString(id));
    List<String> lines = new ArrayList<>();
    lines.add("dataDir=" + data);
    lines.add("tickTime=" + Servers.TICK.toMillis());
    lines.add("initLimit=100");
    lines.add("syncLimit=200");
    lines.add("admin.enableServer=false");
    lines.add("4lw.commands.whitelist=*");
    for (int member = 1; member <= 3; member++) {
      boolean proxied = id != member && (id == CUT_OFF || member == CUT_OFF);
      lines.add(
          "server.%d=127.0.0.1:%d:%d;127.0.0.1:%d"
              .formatted(
                  member,
                  proxied ? behindProxy(quorumPorts[member]) : quorumPorts[member],
                  proxied ? behindProxy(electionPorts[member]) : electionPorts[member],
                  clientPorts[member]));
    }
    Path config = folder.resolve("zoo-" + id + ".cfg");
    Files.write(config, lines);
    servers.add(JavaProcess.of(QuorumPeerMain.class).argument(config.toString()).start());
  }

  private String mode(int id) throws Exception {
    return FourLetterWordMain.send4LetterWord("127.0.0.1", clientPorts[id], "srvr");
  }

  private String address(int id) {
    return "127.0.0.1:" + clientPorts[id];
  }

  private static int sequence(String node) {
    return QueueNode.parse(node).sequence();
  }

  @Test
  void holdEndsByItsOwnClock_beforeTheEnsembleGivesTheNameAway() throws Exception {
    for (int id = 1; id <= 3; id++) {
      quorumPorts[id] = freePort();
      electionPorts[id] = freePort();
      clientPorts[id] = freePort();
    }
    try (Fleet fleet = new Fleet()) {
      start(2);
      start(3); // These two elect one of them, so the third can only follow.
      Eventually.until(Fleet.AMPLE, "a leader", () -> mode(3).contains("Mode: leader"));
      start(CUT_OFF);
      Eventually.until(Fleet.AMPLE, "a follower", () -> mode(CUT_OFF).contains("Mode: follower"));
      Fenceline holder = fleet.client("holder", Servers.store(address(CUT_OFF)), LEASE);
      Fenceline waiter =
          fleet.client("waiter", Servers.store(address(2) + "," + address(3)), LEASE);
      Hold hold = Fleet.take(holder, "partitioned");
      CompletableFuture<Boolean> heldAtTheGrant = new CompletableFuture<>();
      CompletableFuture<Hold> waiting = waiter.lock("partitioned").acquireAsync(Fleet.AMPLE);
      waiting.thenAccept(granted -> heldAtTheGrant.complete(hold.isValid()));
      Eventually.until(
          Fleet.AMPLE, "the wait", () -> waiter.inspect("partitioned").waiters().size() == 1);

      String line = new Layout("/test/fenceline").of("partitioned");
      ZooKeeper reader = new ZooKeeper(address(CUT_OFF), 60_000, event -> {});
      String first =
          reader.getChildren(line, false).stream()
              .min(Comparator.comparing(CutOffFollowerTest::sequence))
              .orElseThrow();

      List<Fault> cuts = proxies.stream().map(proxy -> proxy.blackHole(Direction.BOTH)).toList();
      long cut = System.nanoTime();
      Fleet.get(hold.lost());
      long lost = System.nanoTime();
      Hold next = Fleet.get(waiting);
      long given = System.nanoTime();

      assertThat(Fleet.get(heldAtTheGrant)).isFalse();
      assertThat(next.token()).isGreaterThan(hold.token());
      System.out.printf(
          "Cut off: lost after %d ms, given away after %d ms%n",
          (lost - cut) / 1_000_000, (given - cut) / 1_000_000);
      // The fault was there: the follower still shows the old holder to whoever reads.
      assertThat(cuts.stream().mapToLong(Fault::timesApplied).sum()).isPositive();
      assertThat(reader.getChildren(line, false)).hasSize(2).contains(first);
      assertThat(fleet.heard(Endangered.class)).isNotEmpty();
      proxies.forEach(FaultProxy::heal);
    } finally {
      proxies.forEach(FaultProxy::heal);
      servers.forEach(JavaProcess::close);
      proxies.forEach(FaultProxy::close);
      ports.forEach(PortLease::close);
    }
  }
}
