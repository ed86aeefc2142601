package io.fenceline.redis.support;

import io.fenceline.redis.RedisStores;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.proxy.FaultProxies;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.contract.LockContract.Proxied;
import io.fenceline.testkit.harness.SlowNetwork;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Proxies before servers that announce addresses of their own: whatever address a client is told,
 * by Sentinels, by a map of slots or by a redirection, its driver dials the proxy of that server.
 * Each client has proxies of its own, so that what one is denied reaches the others.
 */
public final class Detour implements SlowNetwork {
  private final FaultProxies proxies;
  private final ClientResources resources;
  private final AbstractRedisClient driver;

  private Detour(
      List<RedisServer> servers, Function<ClientResources, AbstractRedisClient> newDriver) {
    this.proxies = FaultProxies.before(servers, Protocol.RESP);
    this.resources =
        ClientResources.builder()
            .socketAddressResolver(
                MappingSocketAddressResolver.create((HostAndPort told) -> proxyBefore(told)))
            .build();
    this.driver = newDriver.apply(resources);
  }

  private HostAndPort proxyBefore(HostAndPort told) {
    return HostAndPort.of(told.getHostText(), proxies.portBefore(told.getPort()));
  }

  /** The master that Sentinels name, for the user with the documented rights. */
  public static Proxied to(RedisSentinels redis) {
    RedisURI.Builder uri = RedisURI.builder().withSentinelMasterId(RedisSentinels.MASTER_NAME);
    redis.sentinels().forEach(sentinel -> uri.withSentinel(sentinel.host(), sentinel.port()));
    RedisURI master = loggedIn(uri);
    Detour detour = new Detour(redis.servers(), RedisClient::create);
    return detour.proxied(RedisStores.from((RedisClient) detour.driver, master));
  }

  /** A Cluster, for the user with the documented rights. */
  public static Proxied to(RedisCluster redis) {
    List<RedisURI> seeds =
        redis.nodes().stream()
            .map(node -> loggedIn(RedisURI.builder().withHost(node.host()).withPort(node.port())))
            .toList();
    Detour detour =
        new Detour(redis.nodes(), resources -> RedisClusterClient.create(resources, seeds));
    return detour.proxied(RedisStores.from((RedisClusterClient) detour.driver, seeds));
  }

  private static RedisURI loggedIn(RedisURI.Builder uri) {
    return uri.withAuthentication("locks", DocumentedRights.PASSWORD.toCharArray()).build();
  }

  private Proxied proxied(StoreFactory store) {
    return new Proxied(store, this);
  }

  @Override
  public KeptBack holdReply(int request) {
    return proxies.holdReply(request);
  }

  @Override
  public KeptBack holdReplies() {
    return proxies.holdReplies();
  }

  @Override
  public void heal() {
    proxies.heal();
  }

  @Override
  public void close() {
    proxies.close();
    driver.shutdown(0, 2, TimeUnit.SECONDS);
    resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
