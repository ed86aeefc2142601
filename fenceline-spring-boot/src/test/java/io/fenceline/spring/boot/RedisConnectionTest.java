package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisSentinel;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testbed.server.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Locks in the Redis of {@code spring.data.redis.*}, in each of its shapes. */
@Timeout(600)
class RedisConnectionTest {

  private static void lockAndRelease(Fenceline fenceline) {
    Hold hold = fenceline.lock("any").tryAcquire().orElseThrow();
    assertThat(fenceline.inspect("any").holders()).hasSize(1);
    hold.close();
  }

  @Test
  void redis_isUsedThroughItsConnectionDetails() {
    try (RedisServer redis = RedisServer.start()) {
      Boot.withRedis()
          .withPropertyValues(
              "spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
          .run(
              context -> {
                Fenceline fenceline = context.getBean(Fenceline.class);
                assertThat(fenceline.store()).startsWith("redis://");
                lockAndRelease(fenceline);
              });
    }
  }

  @Test
  void redis_withPassword_andTlsByBundle() {
    try (RedisServer secured = RedisServer.builder().password("s3cret").tls().start()) {
      Boot.withRedis()
          .withPropertyValues(
              "spring.ssl.bundle.pem.redis.truststore.certificate=file:"
                  + secured.tlsFiles().caCertificate(),
              "spring.data.redis.ssl.bundle=redis",
              "spring.data.redis.host=" + secured.host(),
              "spring.data.redis.port=" + secured.port(),
              "spring.data.redis.password=s3cret")
          .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
    }
  }

  /** The password of the Sentinels is another one than that of the servers that they watch. */
  @Test
  void redis_behindSentinels_withPasswordsOfBoth() {
    try (RedisSentinels sentinels = RedisSentinels.start()) {
      for (RedisServer server : sentinels.servers()) {
        server.command("CONFIG", "SET", "masterauth", "of-redis");
        server.command("CONFIG", "SET", "requirepass", "of-redis");
      }
      for (RedisSentinel sentinel : sentinels.sentinels()) {
        sentinel.command("SENTINEL", "SET", RedisSentinels.MASTER_NAME, "auth-pass", "of-redis");
        sentinel.command("ACL", "SETUSER", "default", ">of-sentinel");
      }
      List<String> nodes =
          sentinels.sentinels().stream().map(each -> each.host() + ":" + each.port()).toList();
      ApplicationContextRunner behind =
          Boot.withRedis()
              .withPropertyValues(
                  "spring.data.redis.sentinel.master=" + RedisSentinels.MASTER_NAME,
                  "spring.data.redis.sentinel.nodes=" + String.join(",", nodes),
                  "spring.data.redis.password=of-redis");
      behind
          .withPropertyValues("spring.data.redis.sentinel.password=of-sentinel")
          .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
      behind
          .withPropertyValues(
              "spring.data.redis.sentinel.password=wrong", "fenceline.connect-timeout=1s")
          .run(
              context -> {
                FailureAnalysis analysis = Boot.analysis(context.getStartupFailure());
                assertThat(analysis.getDescription())
                    .doesNotContain("wrong")
                    .doesNotContain("of-redis");
              });
    }
  }

  @Test
  void redis_asACluster_withAPassword() {
    try (RedisCluster cluster = RedisCluster.start()) {
      List<String> nodes =
          cluster.masters().stream().map(each -> each.host() + ":" + each.port()).toList();
      for (RedisServer node : cluster.nodes()) {
        node.command("CONFIG", "SET", "masterauth", "of-redis");
        node.command("CONFIG", "SET", "requirepass", "of-redis");
      }
      Boot.withRedis()
          .withPropertyValues(
              "spring.data.redis.cluster.nodes=" + String.join(",", nodes),
              "spring.data.redis.password=of-redis")
          .run(
              context -> {
                Fenceline fenceline = context.getBean(Fenceline.class);
                assertThat(fenceline.store()).startsWith("redis-cluster:");
                for (String name : List.of("a", "b", "c", "d")) {
                  try (Hold hold = fenceline.lock(name).tryAcquire().orElseThrow()) {
                    assertThat(hold.isValid()).isTrue();
                  }
                }
              });
    }
  }
}
