package io.fenceline.spring.boot;

import io.fenceline.redis.RedisStores;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.ssl.SslBundle;

/** Locks in the Redis that the application is connected to. */
public final class RedisStoreSource implements StoreSource, DisposableBean {
  private final Supplier<RedisDetails> details;
  private final Supplier<@Nullable ClientResources> resources;
  private @Nullable AbstractRedisClient client;

  /**
   * A source.
   *
   * @param resources the application's, which are shared; null makes our own
   */
  public RedisStoreSource(
      Supplier<RedisDetails> details, Supplier<@Nullable ClientResources> resources) {
    this.details = details;
    this.resources = resources;
  }

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public Found find() {
    RedisDetails known = details.get();
    ClientResources shared = resources.get();
    if (known.kind() == RedisDetails.Kind.CLUSTER) {
      List<RedisURI> uris =
          known.nodes().stream().map(node -> uri(known, node, known.database())).toList();
      RedisClusterClient cluster =
          shared == null
              ? RedisClusterClient.create(uris)
              : RedisClusterClient.create(shared, uris);
      client = cluster;
      if (known.ssl() != null) {
        cluster.setOptions(ClusterClientOptions.builder().sslOptions(options(known.ssl())).build());
      }
      return Found.of(RedisStores.from(cluster, uris));
    }
    RedisClient single = shared == null ? RedisClient.create() : RedisClient.create(shared);
    client = single;
    if (known.ssl() != null) {
      single.setOptions(ClientOptions.builder().sslOptions(options(known.ssl())).build());
    }
    RedisURI uri =
        known.kind() == RedisDetails.Kind.SENTINEL
            ? sentinel(known)
            : uri(known, known.nodes().get(0), known.database());
    return Found.of(RedisStores.from(single, uri));
  }

  private static RedisURI uri(RedisDetails known, RedisDetails.Node node, int database) {
    RedisURI.Builder uri =
        RedisURI.builder()
            .withHost(node.host())
            .withPort(node.port())
            .withSsl(known.ssl() != null)
            .withDatabase(database);
    RedisCredentialsProvider credentials = credentials(known.username(), known.password());
    return (credentials == null ? uri : uri.withAuthentication(credentials)).build();
  }

  private static RedisURI sentinel(RedisDetails known) {
    RedisURI.Builder uri =
        RedisURI.builder()
            .withSentinelMasterId(String.valueOf(known.master()))
            .withSsl(known.ssl() != null)
            .withDatabase(known.database());
    RedisCredentialsProvider credentials = credentials(known.username(), known.password());
    if (credentials != null) {
      uri.withAuthentication(credentials);
    }
    RedisCredentialsProvider ofSentinels =
        credentials(known.sentinelUsername(), known.sentinelPassword());
    for (RedisDetails.Node node : known.nodes()) {
      RedisURI.Builder one = RedisURI.builder().withHost(node.host()).withPort(node.port());
      one.withSsl(known.ssl() != null);
      uri.withSentinel((ofSentinels == null ? one : one.withAuthentication(ofSentinels)).build());
    }
    return uri.build();
  }

  private static @Nullable RedisCredentialsProvider credentials(
      @Nullable String username, @Nullable String password) {
    return password == null
        ? null
        : RedisCredentialsProvider.from(
            () -> RedisCredentials.just(username, password.toCharArray()));
  }

  private static SslOptions options(SslBundle bundle) {
    SslOptions.Builder options =
        SslOptions.builder()
            .keyManager(bundle.getManagers().getKeyManagerFactory())
            .trustManager(bundle.getManagers().getTrustManagerFactory());
    if (bundle.getOptions().getCiphers() != null) {
      options.cipherSuites(bundle.getOptions().getCiphers());
    }
    if (bundle.getOptions().getEnabledProtocols() != null) {
      options.protocols(bundle.getOptions().getEnabledProtocols());
    }
    return options.build();
  }

  @Override
  public void destroy() {
    if (client != null) {
      client.shutdown();
    }
  }
}
