package io.fenceline.redis;

import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.connection.Connecting;
import io.fenceline.redis.connection.Driver;
import io.fenceline.redis.connection.Topologies;
import io.fenceline.redis.diagnostics.CrashSafety;
import io.fenceline.redis.diagnostics.ServerCheck;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settings of a store in Redis, for {@link io.fenceline.FencelineBuilder#store}.
 *
 * <pre>{@code
 * Fenceline fenceline =
 *     Fenceline.builder()
 *         .store(RedisStores.at("redis://cache:6379").durability(Durability.replicas(1, ofMillis(500))))
 *         .connect();
 * }</pre>
 *
 * <p>Instead of a URI you can give a Lettuce client of your own. Fenceline uses its event loops and
 * its options, such as those for TLS, but makes connections of its own, without the driver's
 * automatic repetition of commands.
 */
public final class RedisStores implements StoreFactory {
  private static final Logger LOG = LoggerFactory.getLogger(RedisStores.class);

  private final Topologies.Settings settings;
  private final Durability durability;
  private final boolean hasFastPath;

  RedisStores(Topologies.Settings settings, Durability durability) {
    this(settings, durability, true);
  }

  private RedisStores(Topologies.Settings settings, Durability durability, boolean hasFastPath) {
    this.settings = settings;
    this.durability = durability;
    this.hasFastPath = hasFastPath;
  }

  /**
   * Locks at a URI: {@code redis:}, {@code rediss:}, {@code redis-sentinel:} or {@code
   * redis-cluster:}; for Valkey the same with {@code valkey} for {@code redis}.
   *
   * @throws io.fenceline.settings.InvalidSettingException if it is not one
   */
  public static RedisStores at(String uri) {
    return new RedisAddress(StoreAddress.parse(uri)).locks();
  }

  /** Locks at a server, or at the master of Sentinels, with the resources of a client. */
  public static RedisStores from(RedisClient client, RedisURI uri) {
    boolean sentinel = uri.getSentinelMasterId() != null;
    return new RedisStores(
        new Topologies.Settings(
            sentinel ? Topologies.Kind.SENTINEL : Topologies.Kind.SINGLE,
            List.of(uri),
            client.getOptions(),
            client.getResources(),
            sentinel ? "redis-sentinel://" + uri.getSentinelMasterId() : describe("redis", uri)),
        Durability.NONE);
  }

  /**
   * Locks in a Cluster that a client knows. The client does not tell its password or whether it
   * uses TLS; where the Cluster wants them, use {@link #from(RedisClusterClient, List)}.
   */
  public static RedisStores from(RedisClusterClient client) {
    if (client.getPartitions().isEmpty()) {
      client.refreshPartitions();
    }
    return from(client, client.getPartitions().stream().map(RedisClusterNode::getUri).toList());
  }

  /**
   * Locks in a Cluster that a client knows.
   *
   * @param uris of some of its servers, with the credentials that are used for all of them
   */
  public static RedisStores from(RedisClusterClient client, List<RedisURI> uris) {
    return new RedisStores(
        new Topologies.Settings(
            Topologies.Kind.CLUSTER,
            uris,
            client.getOptions(),
            client.getResources(),
            describe("redis-cluster", uris.get(0))),
        Durability.NONE);
  }

  /** What the server is called, by an address of it. */
  private static String serverOf(String address) {
    return address.startsWith("valkey") ? "valkey" : "redis";
  }

  private static String describe(String scheme, RedisURI uri) {
    return scheme + "://" + uri.getHost() + ":" + uri.getPort();
  }

  /**
   * Opens a client of its own for the same server, Sentinels or Cluster, for data that is kept
   * beside the locks: a {@link RedisClusterClient} for {@code redis-cluster:}, else a {@link
   * RedisClient}. The caller shuts it down.
   */
  public AbstractRedisClient newClient() {
    if (settings.kind() == Topologies.Kind.CLUSTER) {
      RedisClusterClient client = RedisClusterClient.create(settings.uris());
      client.setOptions(ClusterClientOptions.builder(settings.options()).build());
      return client;
    }
    RedisClient client = RedisClient.create(settings.uris().get(0));
    client.setOptions(settings.options());
    return client;
  }

  /** Returns a copy whose grants must be acknowledged by replicas. */
  public RedisStores durability(Durability wanted) {
    return new RedisStores(settings, wanted, hasFastPath);
  }

  /** Returns a copy without short scripts; for tests of the path that decides. */
  RedisStores withoutFastPath() {
    return new RedisStores(settings, durability, false);
  }

  @Override
  public LockStore open(StoreContext context) {
    return open(context, false);
  }

  /**
   * Opens a store.
   *
   * @param alone whether a server is used as one that stands alone though it is part of a Cluster
   */
  private LockStore open(StoreContext context, boolean alone) {
    if (!durability.isNone() && durability.timeout().compareTo(context.operationTimeout()) >= 0) {
      throw new InvalidSettingException(
          "replica timeout",
          durability.timeout(),
          "it must be below the operation timeout of "
              + Durations.show(context.operationTimeout()));
    }
    long began = System.nanoTime();
    Driver driver = new Driver(settings.resources(), settings.options(), context.connectTimeout());
    RedisStore store =
        new RedisStore(
            settings.description(),
            RedisGuarantees.of(serverOf(settings.description()), settings.kind(), durability),
            durability.replicaWait(),
            listener -> Topologies.of(settings, driver, context, listener),
            driver,
            context,
            hasFastPath);
    try {
      store.topology().connect();
      if (alone) {
        ServerCheck.checkAllBuckets(
            store.topology(), Connecting.left(context, began), settings.description());
      } else if (settings.kind() == Topologies.Kind.SINGLE
          && isOfCluster(store, Connecting.left(context, began))) {
        store.close();
        return openCluster(context);
      }
      ServerCheck.check(
          store.topology(),
          durability.replicaWait(),
          Connecting.left(context, began),
          settings.description());
      store.promise(
          CrashSafety.of(
              store.guarantees(),
              List.of(store.topology()),
              Connecting.left(context, began),
              settings.description()));
      return store;
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
  }

  /**
   * A server of a Cluster that does not let us see the Cluster, as some managed services do, is
   * used alone, if it has all slots.
   */
  private LockStore openCluster(StoreContext context) {
    try {
      LOG.info("{} is a node of a Cluster, and used as one", settings.description());
      return new RedisStores(settings.asCluster(), durability, hasFastPath).open(context);
    } catch (StoreUnavailableException | StoreRefusedException e) {
      if (!(e.getCause() instanceof RedisCommandExecutionException)) {
        throw e;
      }
      try {
        LockStore store = open(context, true);
        LOG.info(
            "{} does not show its Cluster, and is used as one server ({})",
            settings.description(),
            e.getMessage());
        return store;
      } catch (RuntimeException alone) {
        e.addSuppressed(alone);
        throw e;
      }
    }
  }

  private boolean isOfCluster(RedisStore store, StoreContext context) {
    return Connecting.await(
            ServerCheck.greetings(store.topology()), context, settings.description())
        .values()
        .stream()
        .anyMatch(ServerCheck::isOfCluster);
  }

  @Override
  public String toString() {
    return settings.description();
  }
}
