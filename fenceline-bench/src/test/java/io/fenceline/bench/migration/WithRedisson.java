package io.fenceline.bench.migration;

import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

final class WithRedisson {
  private WithRedisson() {}

  static void run(String address, Runnable work) throws InterruptedException {
    Config config = new Config();
    config.useSingleServer().setAddress(address);
    RedissonClient redisson = Redisson.create(config);
    RLock lock = redisson.getLock("ledger");
    if (lock.tryLock(10, 30, TimeUnit.SECONDS)) {
      try {
        work.run();
      } finally {
        lock.unlock();
      }
    }
    redisson.shutdown();
  }
}
