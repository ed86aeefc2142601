package io.fenceline.testbed.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisServerTest {

  private static final Duration BOUND = Duration.ofSeconds(10);

  @Test
  void dataInMemoryIsLostWithTheProcess_andAnAppendOnlyFileKeepsIt() {
    try (RedisServer memory = RedisServer.start();
        RedisServer file = RedisServer.builder().appendOnly("always").start()) {
      memory.command("SET", "key", "value");
      file.command("SET", "key", "value");
      memory.kill();
      file.kill();
      memory.restart();
      file.restart();

      assertThat(memory.command("GET", "key")).isNull();
      assertThat(file.command("GET", "key")).isEqualTo("value");
    }
  }

  @Test
  void answersComeAsStringsNumbersListsAndErrors() {
    try (RedisServer redis = RedisServer.start()) {
      assertThat(redis.command("RPUSH", "list", "a", "b")).isEqualTo(2L);
      assertThat(redis.command("LRANGE", "list", "0", "-1")).isEqualTo(List.of("a", "b"));
      assertThatThrownBy(() -> redis.command("GET", "list"))
          .isInstanceOf(RedisErrorException.class)
          .hasMessageStartingWith("WRONGTYPE");
    }
  }

  @Test
  void countsCommands() {
    try (RedisServer redis = RedisServer.start()) {
      redis.command("SET", "a", "1");
      redis.resetCommandCounts();
      redis.command("GET", "a");
      redis.command("GET", "a");

      assertThat(redis.commandCount("GET")).isEqualTo(2);
      assertThat(redis.commandCounts()).doesNotContainKey("set");
    }
  }

  @Test
  void aFullServerEvictsByItsPolicy() {
    try (RedisServer redis = RedisServer.builder().maxMemory("3mb", "allkeys-lru").start()) {
      String value = "x".repeat(100_000);
      for (int i = 0; i < 60; i++) {
        redis.command("SET", "key" + i, value);
      }
      assertThat(Long.parseLong(redis.info("evicted_keys"))).isPositive();
    }
  }

  @Test
  void aReplicaFollowsItsMaster_alsoThroughAPassword() {
    try (RedisServer master = RedisServer.builder().password("sesame").start();
        RedisServer replica = RedisServer.builder().replicaOf(master).start()) {
      replica.awaitInSync(BOUND);
      master.command("SET", "key", "value");

      Eventually.until(BOUND, "the key", () -> replica.command("GET", "key"), "value"::equals);
      assertThatThrownBy(() -> replica.command("SET", "key", "other"))
          .hasMessageStartingWith("READONLY");
    }
  }

  @Test
  void usersHaveTheRightsThatTheyWereGiven() throws IOException {
    try (RedisServer redis =
            RedisServer.builder().password("sesame").user("app", "on >pw ~fl:* +get +set").start();
        RespClient app = RespClient.connect(redis.host(), redis.port())) {
      assertThatThrownBy(() -> app.call("GET", "fl:x")).hasMessageStartingWith("NOAUTH");
      app.call("AUTH", "app", "pw");
      assertThat(app.call("SET", "fl:x", "1")).isEqualTo("OK");
      assertThatThrownBy(() -> app.call("GET", "other")).hasMessageStartingWith("NOPERM");
      assertThat(redis.command("DBSIZE")).isEqualTo(1L);
      assertThat(redis.uri()).isEqualTo("redis://:sesame@" + redis.address());
    }
  }

  @Test
  void speaksTls_andNothingElse() throws IOException {
    try (RedisServer redis = RedisServer.builder().tls().start();
        RespClient plain = RespClient.connect(redis.host(), redis.port())) {
      assertThat(redis.command("PING")).isEqualTo("PONG");
      assertThat(redis.uri()).startsWith("rediss://");
      assertThat(redis.tlsFiles().caCertificate()).isNotEmptyFile();
      assertThatThrownBy(() -> plain.call("PING")).isInstanceOf(IOException.class);
    }
  }

  @Test
  void itsClockCanBeSetForwardAndBack() {
    try (RedisServer redis = RedisServer.builder().fakeTime().start()) {
      assertThat(secondsAhead(redis)).isBetween(-2L, 2L);
      redis.command("SET", "key", "value", "PX", "60000");

      redis.clockOffset(Duration.ofSeconds(30));
      assertThat(secondsAhead(redis)).isBetween(28L, 32L);
      assertThat((Long) redis.command("PTTL", "key")).isBetween(25_000L, 30_000L);

      redis.clockOffset(Duration.ofHours(-1));
      assertThat(secondsAhead(redis)).isBetween(-3602L, -3598L);
      assertThat((Long) redis.command("PTTL", "key")).isGreaterThan(3_600_000L);

      redis.clockOffset(Duration.ofMinutes(2));
      assertThat(redis.command("GET", "key")).isNull();
    }
  }

  private static long secondsAhead(RedisServer redis) {
    List<?> time = (List<?>) redis.command("TIME");
    return Long.parseLong((String) time.get(0)) - Instant.now().getEpochSecond();
  }

  @Test
  void theMachinesClockCannotBeSet() {
    try (RedisServer redis = RedisServer.start()) {
      assertThatThrownBy(() -> redis.clockOffset(Duration.ofDays(1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("fakeTime()");
    }
  }
}
