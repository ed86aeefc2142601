package io.fenceline.bench.contender;

import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's mutex: one object a name, which the threads share, as its documentation has it. */
final class CuratorLocks implements Contender {
  private final CuratorFramework client;
  private final ConcurrentHashMap<String, InterProcessMutex> locks = new ConcurrentHashMap<>();

  CuratorLocks(String address) throws InterruptedException {
    this.client = connect(address);
  }

  /** A client of an address such as {@code zookeeper://host:port}. */
  static CuratorFramework connect(String address) throws InterruptedException {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(
            address.replace("zookeeper://", ""), new ExponentialBackoffRetry(100, 3));
    client.start();
    client.blockUntilConnected();
    return client;
  }

  @Override
  public Cycle on(String name) {
    InterProcessMutex lock =
        locks.computeIfAbsent(name, any -> new InterProcessMutex(client, "/curator/" + name));
    return section -> {
      lock.acquire();
      try {
        section.run(0);
      } finally {
        lock.release();
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
