package consumer;

import io.fenceline.FencingToken;
import io.fenceline.zookeeper.ZooKeeperFence;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

final class ZooKeeper implements Main.Guarded {
  private final CuratorFramework client;

  ZooKeeper(String uri) {
    client =
        CuratorFrameworkFactory.newClient(
            uri.replaceFirst("^zookeeper://", "").replaceFirst("[?].*", ""), new RetryNTimes(3, 1000));
    client.start();
  }

  @Override
  public void write(FencingToken token) {
    ZooKeeperFence.over(client)
        .asFence("/consumer-fences")
        .check("resource-" + ProcessHandle.current().pid(), token);
  }

  @Override
  public void close() {
    client.close();
  }
}
