package io.fenceline.redis.support;

import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testbed.server.RedisServer;
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
