package io.fenceline.bench.migration;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

final class WithCurator {
  private WithCurator() {}

  static void run(String servers, Runnable work) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(1_000, 3));
    client.start();
    InterProcessMutex lock = new InterProcessMutex(client, "/locks/ledger");
    if (lock.acquire(10, TimeUnit.SECONDS)) {
      try {
        work.run();
      } finally {
        lock.release();
      }
    }
    client.close();
  }
}
