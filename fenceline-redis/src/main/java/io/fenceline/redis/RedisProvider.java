package io.fenceline.redis;

import io.fenceline.redis.connection.Topologies;
import io.fenceline.redis.redlock.RedlockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Finds Redis by {@code redis:}, {@code rediss:}, {@code redis-sentinel:}, {@code redis-cluster:},
 * and {@code redlock:}; and Valkey by the same, with {@code valkey} for {@code redis}.
 */
public final class RedisProvider implements StoreProvider {

  /** For {@link java.util.ServiceLoader}. */
  public RedisProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of(
        "redis",
        "rediss",
        "redis-sentinel",
        "redis-cluster",
        "valkey",
        "valkeys",
        "valkey-sentinel",
        "valkey-cluster",
        "redlock");
  }

  @Override
  public List<StoreKind> kinds() {
    List<StoreKind> kinds = new ArrayList<>();
    for (String server : List.of("redis", "valkey")) {
      kinds.add(
          kind(
              server,
              Topologies.Kind.SINGLE,
              "%s://[user:password@]host[:6379][/db]",
              "%ss://[user:password@]host[:6379][/db][?tlsCa=file]"));
      kinds.add(
          kind(
              server,
              Topologies.Kind.SENTINEL,
              "%s-sentinel://[user:password@]host[:26379],host…[/db]?master=name"));
      kinds.add(
          kind(server, Topologies.Kind.CLUSTER, "%s-cluster://[user:password@]host[:6379],host…"));
    }
    kinds.add(
        new StoreKind(
            List.of("redlock://[user:password@]host[:6379],host,host…[/db][?nodeTimeout=50ms]"),
            StoreKind.Consistency.AP,
            "two round trips to all nodes at once, about 1 ms in one data centre",
            RedlockStore.usualGuarantees()));
    return kinds;
  }

  private static StoreKind kind(String server, Topologies.Kind topology, String... addresses) {
    return new StoreKind(
        Arrays.stream(addresses).map(address -> address.formatted(server)).toList(),
        topology == Topologies.Kind.SINGLE
            ? StoreKind.Consistency.SINGLE
            : StoreKind.Consistency.AP,
        "one round trip, below 1 ms in one data centre",
        RedisGuarantees.of(server, topology, Durability.NONE));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    RedisAddress parsed = new RedisAddress(address);
    return address.scheme().equals("redlock") ? parsed.redlock() : parsed.locks();
  }
}
