package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RedisSentinelsTest {

  @Test
  void aKilledMasterIsReplaced() {
    try (RedisSentinels group = RedisSentinels.start()) {
      RedisServer master = group.master();
      RedisServer replica = group.replica();
      assertThat(master).isNotSameAs(replica);
      assertThat(group.sentinels()).hasSize(3);

      master.kill();
      group.awaitMaster(replica, Duration.ofSeconds(20));

      assertThat(replica.command("SET", "key", "value")).isEqualTo("OK");
      assertThat(group.master()).isSameAs(replica);
    }
  }
}
