package io.fenceline.redis;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.List;
import java.util.Set;

/**
 * Finds Redis by {@code redis:}, {@code rediss:}, {@code redis-sentinel:}, {@code redis-cluster:},
 * and {@code redlock:}.
 */
public final class RedisProvider implements StoreProvider {

  /** For {@link java.util.ServiceLoader}. */
  public RedisProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("redis", "rediss", "redis-sentinel", "redis-cluster", "redlock");
  }

  @Override
  public List<StoreKind> kinds() {
    String latency = "one round trip, below 1 ms in one data centre";
    return List.of(
        new StoreKind(
            List.of(
                "redis://[user:password@]host[:6379][/db]",
                "rediss://[user:password@]host[:6379][/db][?tlsCa=file]"),
            StoreKind.Consistency.SINGLE,
            latency,
            Promises.of(Topologies.Kind.SINGLE, Durability.NONE)),
        new StoreKind(
            List.of("redis-sentinel://[user:password@]host[:26379],host…[/db]?master=name"),
            StoreKind.Consistency.AP,
            latency,
            Promises.of(Topologies.Kind.SENTINEL, Durability.NONE)),
        new StoreKind(
            List.of("redis-cluster://[user:password@]host[:6379],host…"),
            StoreKind.Consistency.AP,
            latency,
            Promises.of(Topologies.Kind.CLUSTER, Durability.NONE)),
        new StoreKind(
            List.of("redlock://[user:password@]host[:6379],host,host…[/db][?nodeTimeout=50ms]"),
            StoreKind.Consistency.AP,
            "two round trips to all nodes at once, about 1 ms in one data centre",
            RedlockStore.guarantees()));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    RedisAddress parsed = new RedisAddress(address);
    return address.scheme().equals("redlock") ? parsed.redlock() : parsed.locks();
  }
}
