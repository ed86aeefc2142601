package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockLostException;
import io.fenceline.LockOptions;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.FenceListener;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fence beside nodes of ZooKeeper. */
class ZooKeeperFenceTest extends FenceContract {
  private static final FencingToken T33 = FencingToken.exclusive(33);
  private static final FencingToken T34 = FencingToken.exclusive(34);

  private static CuratorFramework curator;

  @BeforeAll
  static void start() {
    curator =
        CuratorFrameworkFactory.newClient(
            Servers.single().address(), 20_000, 20_000, new RetryOneTime(100));
    curator.start();
  }

  @AfterAll
  static void stop() {
    curator.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  protected FencedCell cell(String name, FenceListener listener) {
    ZooKeeperFence fence = ZooKeeperFence.over(curator).listener(listener);
    String path = "/cells/" + name;
    try {
      curator.create().creatingParentsIfNeeded().forPath(path, new byte[0]);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return new FencedCell() {
      @Override
      public void write(String value, FencingToken token) {
        fence.setData(path, bytes(value), token);
      }

      @Override
      public String read() {
        return text(path);
      }
    };
  }

  private static String text(String path) {
    try {
      return new String(curator.getData().forPath(path), StandardCharsets.UTF_8);
    } catch (KeeperException.NoNodeException e) {
      return "";
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void nodeThatWasDeleted_isNotCreatedByAStaleWriter() {
    ZooKeeperFence fence = ZooKeeperFence.over(curator);
    fence.create("/created/deep/node", bytes("of 33"), T33);
    fence.delete("/created/deep/node", T34);

    assertThatThrownBy(() -> fence.create("/created/deep/node", bytes("again"), T33))
        .isInstanceOf(StaleTokenException.class);
    assertThat(text("/created/deep/node")).isEmpty();
  }

  @Test
  void operationThatFails_takesTheMarkWithIt() {
    ZooKeeperFence fence = ZooKeeperFence.over(curator);

    assertThatThrownBy(() -> fence.setData("/not-there", bytes("x"), T34))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("/not-there");

    assertThatCode(() -> fence.create("/not-there", bytes("x"), T33)).doesNotThrowAnyException();
    assertThatThrownBy(() -> fence.setData("no path", bytes("x"), T34))
        .isInstanceOf(InvalidSettingException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void operationsWhoseAnswerIsLost_areNotDoneTwice(boolean isFirst) throws Exception {
    String resource = "/twice-" + isFirst;
    curator.create().forPath(resource);
    if (!isFirst) {
      ZooKeeperFence.over(curator).commit(resource, T33, List.of());
    }
    try (FaultProxy proxy =
            FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
        CuratorFramework unlucky =
            CuratorFrameworkFactory.newClient(
                proxy.address(), 6_000, 20_000, new RetryNTimes(10, 100))) {
      unlucky.start();
      Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.is("multi")));
      CuratorOp entry =
          unlucky
              .transactionOp()
              .create()
              .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
              .forPath(resource + "/entry-");

      assertThatThrownBy(() -> ZooKeeperFence.over(unlucky).commit(resource, T33, List.of(entry)))
          .isInstanceOf(StoreUnavailableException.class);

      assertThat(cut.timesApplied()).isEqualTo(1);
      assertThat(curator.getChildren().forPath(resource)).as("entries").hasSize(1);
    }
  }

  @Test
  void checkAlone_forResourcesElsewhere() {
    ZooKeeperFence fence = ZooKeeperFence.over(curator);
    fence.asFence("/fences").check("orders/42", T34);

    assertThatThrownBy(() -> fence.asFence("/fences").check("orders/42", T33))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void whileHeld_asksForTheLocksNode_too() throws Exception {
    ZooKeeperFence fence = ZooKeeperFence.over(curator);
    try (Fenceline client =
        Fenceline.connect(Servers.uri(Servers.single().address(), Servers.SESSION))) {
      LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(4));
      Hold hold = client.lock("guarded", options).acquire(Duration.ofSeconds(60));
      String root = "/test/fenceline";
      ZooKeeperFence held = fence.whileHeld(hold, root, 0);
      held.commit("/held", hold.fencingToken(), List.of());

      hold.release();

      assertThatThrownBy(() -> held.commit("/held", hold.fencingToken(), List.of()))
          .isInstanceOf(LockLostException.class)
          .hasMessageContaining("guarded");
      assertThatThrownBy(() -> fence.whileHeld(hold, root, 0))
          .isInstanceOf(LockLostException.class);
      // The fence alone sees nothing wrong: nobody has overtaken this writer yet.
      fence.commit("/held", hold.fencingToken(), List.of());
    }
  }
}
