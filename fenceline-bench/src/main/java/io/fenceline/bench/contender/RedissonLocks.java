package io.fenceline.bench.contender;

import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks with its defaults: watchdog on, pools of its own size. */
final class RedissonLocks implements Contender {
  private final RedissonClient client;
  private final BiFunction<RedissonClient, String, Cycle> cycles;

  private RedissonLocks(String address, BiFunction<RedissonClient, String, Cycle> cycles) {
    Config config = new Config();
    config.useSingleServer().setAddress(address);
    this.client = Redisson.create(config);
    this.cycles = cycles;
  }

  static Contender plain(String address) {
    return new RedissonLocks(address, (client, name) -> cycle(client.getLock("rlock:" + name)));
  }

  static Contender fair(String address) {
    return new RedissonLocks(address, (client, name) -> cycle(client.getFairLock("rfair:" + name)));
  }

  /** With its token, in one round trip. */
  static Contender fenced(String address) {
    return new RedissonLocks(
        address,
        (client, name) -> {
          RFencedLock lock = client.getFencedLock("fenced:" + name);
          return section -> {
            long token = lock.lockAndGetToken();
            try {
              section.run(token);
            } finally {
              lock.unlock();
            }
          };
        });
  }

  private static Cycle cycle(RLock lock) {
    return JavaLock.cycle(lock);
  }

  @Override
  public Cycle on(String name) {
    return cycles.apply(client, name);
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
