package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.contract.GivenClientContract;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The application's own session outlives the store that was closed on it. */
class GivenClientTest extends GivenClientContract {
  private static final Duration TICK = Duration.ofSeconds(2);
  private static final Duration SESSION = Duration.ofSeconds(30);

  private static ZooKeeperServer server;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(TICK);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected FaultProxy openProxy() {
    return FaultProxy.to(server.host(), server.port(), Protocol.ZOOKEEPER);
  }

  @Override
  protected GivenClient openClient(FaultProxy through) throws Exception {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(
            through.address(), (int) SESSION.toMillis(), 20_000, new RetryOneTime(100));
    curator.start();
    curator.blockUntilConnected();
    long session = curator.getZookeeperClient().getZooKeeper().getSessionId();
    return new GivenClient() {
      @Override
      public StoreFactory store() {
        return ZooKeeperStores.from(curator).root("/test/fenceline");
      }

      @Override
      public void checkThatItLives() throws Exception {
        assertThat(curator.checkExists().forPath("/test")).isNotNull();
        assertThat(curator.getZookeeperClient().getZooKeeper().getSessionId()).isEqualTo(session);
      }

      @Override
      public void close() {
        curator.close();
      }
    };
  }

  @Override
  protected StoreFactory direct() {
    return Servers.store(server.address(), SESSION);
  }
}
