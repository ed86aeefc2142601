package io.fenceline.spring.boot3;

import io.fenceline.redis.RedisStores;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import io.fenceline.spring.boot.RedisDetails;
import io.fenceline.spring.boot.RedisDetails.Kind;
import io.fenceline.spring.boot.RedisStoreSource;
import io.lettuce.core.resource.ClientResources;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

/** Auto-configuration of locks in the Redis that the application is connected to. */
@AutoConfiguration(after = RedisAutoConfiguration.class, before = FencelineAutoConfiguration.class)
@ConditionalOnClass({RedisConnectionDetails.class, RedisStores.class})
@ConditionalOnBean(RedisConnectionDetails.class)
public final class Boot3RedisAutoConfiguration {

  /** Called by Spring. */
  public Boot3RedisAutoConfiguration() {}

  @Bean
  @Order(1)
  RedisStoreSource fencelineRedisStore(
      RedisConnectionDetails details, ObjectProvider<ClientResources> resources) {
    return new RedisStoreSource(() -> read(details), resources::getIfUnique);
  }

  private static RedisDetails read(RedisConnectionDetails details) {
    RedisConnectionDetails.Sentinel sentinel = details.getSentinel();
    if (sentinel != null) {
      return new RedisDetails(
          Kind.SENTINEL,
          nodes(sentinel.getNodes()),
          sentinel.getDatabase(),
          details.getUsername(),
          details.getPassword(),
          sentinel.getMaster(),
          sentinel.getUsername(),
          sentinel.getPassword(),
          sentinel.getSslBundle());
    }
    RedisConnectionDetails.Cluster cluster = details.getCluster();
    if (cluster != null) {
      return plain(Kind.CLUSTER, nodes(cluster.getNodes()), 0, details, cluster.getSslBundle());
    }
    RedisConnectionDetails.Standalone standalone = details.getStandalone();
    return plain(
        Kind.STANDALONE,
        List.of(new RedisDetails.Node(standalone.getHost(), standalone.getPort())),
        standalone.getDatabase(),
        details,
        standalone.getSslBundle());
  }

  private static RedisDetails plain(
      Kind kind,
      List<RedisDetails.Node> nodes,
      int database,
      RedisConnectionDetails details,
      @Nullable SslBundle ssl) {
    @Nullable String none = null;
    return new RedisDetails(
        kind, nodes, database, details.getUsername(), details.getPassword(), none, none, none, ssl);
  }

  private static List<RedisDetails.Node> nodes(List<RedisConnectionDetails.Node> nodes) {
    return nodes.stream().map(node -> new RedisDetails.Node(node.host(), node.port())).toList();
  }
}
