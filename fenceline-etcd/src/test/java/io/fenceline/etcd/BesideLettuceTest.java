package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.util.Version;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Lettuce and jetcd share one Netty in one process. */
class BesideLettuceTest {

  @Test
  void bothWorkInOneProcess_onOneNetty() throws Exception {
    try (EtcdServer etcd = EtcdServer.start();
        RedisServer redis = RedisServer.start()) {
      RedisClient lettuce = RedisClient.create("redis://" + redis.address());
      try (StatefulRedisConnection<String, String> connection = lettuce.connect();
          Fenceline fenceline = Fenceline.connect("etcd://" + etcd.address());
          Hold hold = fenceline.lock("beside").acquire(Duration.ofSeconds(20))) {
        connection.sync().set("token", Long.toString(hold.token()));
        assertThat(connection.sync().get("token")).isEqualTo(Long.toString(hold.token()));
        assertThat(hold.isValid()).isTrue();
      } finally {
        lettuce.shutdown();
      }
      assertThat(Version.identify().values())
          .extracting(Version::artifactVersion)
          .as("one Netty, and not two")
          .allMatch(
              version -> version.equals(Version.identify().get("netty-common").artifactVersion()));
    }
  }
}
