package io.fenceline.spring.boot4;

import io.fenceline.redis.RedisStores;
import io.fenceline.settings.InvalidSettingException;
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
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

/** Auto-configuration of locks in the Redis that the application is connected to. */
@AutoConfiguration(
    after = DataRedisAutoConfiguration.class,
    before = FencelineAutoConfiguration.class)
@ConditionalOnClass({DataRedisConnectionDetails.class, RedisStores.class})
@ConditionalOnBean(DataRedisConnectionDetails.class)
public final class Boot4RedisAutoConfiguration {

  /** Called by Spring. */
  public Boot4RedisAutoConfiguration() {}

  @Bean
  @Order(1)
  RedisStoreSource fencelineRedisStore(
      DataRedisConnectionDetails details, ObjectProvider<ClientResources> resources) {
    return new RedisStoreSource(() -> read(details), resources::getIfUnique);
  }

  private static RedisDetails read(DataRedisConnectionDetails details) {
    DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
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
          details.getSslBundle());
    }
    DataRedisConnectionDetails.Cluster cluster = details.getCluster();
    if (cluster != null) {
      return plain(Kind.CLUSTER, nodes(cluster.getNodes()), 0, details);
    }
    DataRedisConnectionDetails.Standalone standalone = details.getStandalone();
    if (standalone == null) {
      throw new InvalidSettingException(
          "spring.data.redis.masterreplica",
          "set",
          "locks need one server, Sentinels or a Cluster; name the master by fenceline.store");
    }
    return plain(
        Kind.STANDALONE,
        List.of(new RedisDetails.Node(standalone.getHost(), standalone.getPort())),
        standalone.getDatabase(),
        details);
  }

  private static RedisDetails plain(
      Kind kind, List<RedisDetails.Node> nodes, int database, DataRedisConnectionDetails details) {
    @Nullable String none = null;
    return new RedisDetails(
        kind,
        nodes,
        database,
        details.getUsername(),
        details.getPassword(),
        none,
        none,
        none,
        details.getSslBundle());
  }

  private static List<RedisDetails.Node> nodes(List<DataRedisConnectionDetails.Node> nodes) {
    return nodes.stream().map(node -> new RedisDetails.Node(node.host(), node.port())).toList();
  }
}
