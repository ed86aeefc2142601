package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testbed.process.ProcessState;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;

class ZooKeeperServerTest {

  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final Duration TICK = Duration.ofMillis(500);

  private static ZooKeeper connect(String servers) throws IOException, InterruptedException {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            servers,
            10_000,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    assertThat(connected.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return client;
  }

  private static void put(String servers, String path) throws Exception {
    try (ZooKeeper client = connect(servers)) {
      client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }
  }

  private static boolean has(String servers, String path) throws Exception {
    try (ZooKeeper client = connect(servers)) {
      return client.exists(path, false) != null;
    } catch (KeeperException.ConnectionLossException e) {
      return false;
    }
  }

  @Test
  void whatIsCreatedSurvivesAKill() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.start(TICK)) {
      put(server.address(), "/node");
      assertThat(server.fourLetterWord("ruok")).isEqualTo("imok");
      assertThat(server.fourLetterWord("conf")).contains("tickTime=500");

      server.kill();
      assertThat(server.state()).isEqualTo(ProcessState.GONE);
      server.restart();

      assertThat(has(server.address(), "/node")).isTrue();
      assertThatThrownBy(server::tlsFiles).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void anEnsembleSurvivesItsLeader() throws Exception {
    try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(TICK)) {
      ZooKeeperServer leader = ensemble.awaitLeader(BOUND);
      put(ensemble.connectString(), "/node");

      leader.kill();
      ZooKeeperServer next = ensemble.awaitLeader(BOUND);

      assertThat(next).isNotSameAs(leader);
      Eventually.until(BOUND, "the node", () -> has(next.address(), "/node"));
      leader.restart();
      Eventually.until(BOUND, "the node", () -> has(leader.address(), "/node"));
    }
  }

  @Test
  void aServerWithTls_speaksItAtAPortOfItsOwn() throws Exception {
    try (ZooKeeperServer server = ZooKeeperServer.startWithTls(TICK)) {
      assertThat(server.fourLetterWord("ruok")).as("the open port").isEqualTo("imok");
      int port = Integer.parseInt(server.tlsAddress().split(":", 2)[1]);
      try (Socket plain = new Socket(server.host(), port)) {
        plain.setSoTimeout(10_000);
        plain.getOutputStream().write("ruok".getBytes(StandardCharsets.US_ASCII));
        plain.shutdownOutput();
        String answer =
            new String(plain.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        assertThat(answer).doesNotContain("imok");
      }
      try (SSLSocket socket =
          (SSLSocket)
              server
                  .tlsFiles()
                  .clientContext()
                  .getSocketFactory()
                  .createSocket(server.host(), port)) {
        socket.startHandshake();
        assertThat(socket.getSession().getPeerPrincipal().getName()).isEqualTo("CN=localhost");
      }
    }
  }
}
