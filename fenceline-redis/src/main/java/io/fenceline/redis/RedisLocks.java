package io.fenceline.redis;

import io.fenceline.InvalidSettingException;
import io.fenceline.spi.Durations;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.List;

/**
 * Locks in Redis, for a client to be connected to.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store(RedisLocks.at("redis://cache:6379").durability(Durability.replicas(1, ofMillis(500))))
 *         .connect();
 * }</pre>
 *
 * <p>A Lettuce client that you have already can be given instead of a URI; its event loops and its
 * options, such as those for TLS, are used, but the connections are our own, and without the
 * driver's automatic repetition of commands.
 */
public final class RedisLocks implements StoreFactory {
  private final Topologies.Settings settings;
  private final Durability durability;

  RedisLocks(Topologies.Settings settings, Durability durability) {
    this.settings = settings;
    this.durability = durability;
  }

  /**
   * Locks at a URI: {@code redis:}, {@code rediss:}, {@code redis-sentinel:} or {@code
   * redis-cluster:}.
   *
   * @throws io.fenceline.InvalidSettingException if it is not one
   */
  public static RedisLocks at(String uri) {
    return new RedisAddress(StoreAddress.parse(uri)).locks();
  }

  /** Locks at a server, or at the master of Sentinels, with the resources of a client. */
  public static RedisLocks of(RedisClient client, RedisURI uri) {
    boolean sentinel = uri.getSentinelMasterId() != null;
    return new RedisLocks(
        new Topologies.Settings(
            sentinel ? Topologies.Kind.SENTINEL : Topologies.Kind.SINGLE,
            List.of(uri),
            client.getOptions(),
            client.getResources(),
            sentinel ? "redis-sentinel://" + uri.getSentinelMasterId() : describe("redis", uri)),
        Durability.NONE);
  }

  /** Locks in a Cluster that a client knows. */
  public static RedisLocks of(RedisClusterClient client) {
    if (client.getPartitions().isEmpty()) {
      client.refreshPartitions();
    }
    List<RedisURI> uris = client.getPartitions().stream().map(RedisClusterNode::getUri).toList();
    return new RedisLocks(
        new Topologies.Settings(
            Topologies.Kind.CLUSTER,
            uris,
            client.getOptions(),
            client.getResources(),
            describe("redis-cluster", uris.get(0))),
        Durability.NONE);
  }

  private static String describe(String scheme, RedisURI uri) {
    return scheme + "://" + uri.getHost() + ":" + uri.getPort();
  }

  /** The same locks, but with grants that replicas must acknowledge. */
  public RedisLocks durability(Durability wanted) {
    return new RedisLocks(settings, wanted);
  }

  @Override
  public LockStore open(StoreContext context) {
    if (!durability.isNone() && durability.timeout().compareTo(context.operationTimeout()) >= 0) {
      throw new InvalidSettingException(
          "replica timeout",
          durability.timeout(),
          "it must be below the operation timeout of "
              + Durations.show(context.operationTimeout()));
    }
    Driver driver = new Driver(settings.resources(), settings.options(), context.connectTimeout());
    RedisStore store =
        new RedisStore(
            settings.description(),
            Promises.of(settings.kind(), durability),
            durability,
            listener -> Topologies.of(settings, driver, context, listener),
            driver,
            context);
    try {
      store.topology().connect();
      Admission.check(store.topology(), durability, context, settings.description());
      return store;
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  @Override
  public String toString() {
    return settings.description();
  }
}
