package io.fenceline.bench.contender;

import java.net.URI;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's registry, with messages instead of its default polling every 100 ms. */
final class SpringRedisLocks implements Contender {
  private final LettuceConnectionFactory connections;
  private final RedisLockRegistry registry;

  SpringRedisLocks(String address) {
    URI uri = URI.create(address);
    this.connections = new LettuceConnectionFactory(uri.getHost(), uri.getPort());
    connections.afterPropertiesSet();
    connections.start();
    this.registry = new RedisLockRegistry(connections, "spring");
    registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
  }

  @Override
  public Cycle on(String name) {
    return JavaLock.cycle(registry.obtain(name));
  }

  @Override
  public void close() {
    registry.destroy();
    connections.destroy();
  }
}
