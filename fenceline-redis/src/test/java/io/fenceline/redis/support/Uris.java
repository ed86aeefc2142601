package io.fenceline.redis.support;

import io.fenceline.testkit.server.RedisCluster;
import io.fenceline.testkit.server.RedisKind;
import io.fenceline.testkit.server.RedisSentinels;
import io.fenceline.testkit.server.RedisServer;
import io.fenceline.testkit.server.ServerProcess;
import java.util.stream.Collectors;

/** Where the servers of the testkit are. */
public final class Uris {
  private Uris() {}

  public static String of(RedisSentinels sentinels) {
    return of(RedisKind.REDIS, sentinels);
  }

  public static String of(RedisKind kind, RedisSentinels sentinels) {
    return sentinels.sentinels().stream()
        .map(ServerProcess::address)
        .collect(
            Collectors.joining(
                ",", kind.scheme() + "-sentinel://", "?master=" + RedisSentinels.MASTER_NAME));
  }

  public static String of(RedisCluster cluster) {
    return of(RedisKind.REDIS, cluster);
  }

  public static String of(RedisKind kind, RedisCluster cluster) {
    return cluster.nodes().stream()
        .filter(RedisServer::isAlive)
        .map(RedisServer::address)
        .collect(Collectors.joining(",", kind.scheme() + "-cluster://", ""));
  }
}
