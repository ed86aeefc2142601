package io.fenceline.redis;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreProvider;
import java.util.Set;

/**
 * Finds Redis by {@code redis:}, {@code rediss:}, {@code redis-sentinel:}, {@code redis-cluster:}.
 */
public final class RedisProvider implements StoreProvider {

  /** For {@link java.util.ServiceLoader}. */
  public RedisProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("redis", "rediss", "redis-sentinel", "redis-cluster");
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    return new RedisAddress(address).locks();
  }
}
