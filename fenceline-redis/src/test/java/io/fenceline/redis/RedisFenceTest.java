package io.fenceline.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.InvalidSettingException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import io.fenceline.testkit.server.RedisCluster;
import io.fenceline.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Fences in Redis: one server and a Cluster, the commands that there are and scripts of users. */
class RedisFenceTest {
  private static final FencingToken T33 = FencingToken.exclusive(33);
  private static final FencingToken T34 = FencingToken.exclusive(34);
  private static final GuardedScript APPEND =
      GuardedScript.of(
          """
          local written = 0
          for i, key in ipairs(KEYS) do
            redis.call('SET', key, ARGV[i])
            written = written + 1
          end
          return written
          """);

  private static RedisServer redis;
  private static RedisClient client;
  private static StatefulRedisConnection<String, String> connection;
  private static RedisFence<String, String> fence;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    client = RedisClient.create(redis.uri());
    connection = client.connect();
    fence = RedisFence.over(connection);
  }

  @AfterAll
  static void stop() {
    client.shutdown(0, 2, java.util.concurrent.TimeUnit.SECONDS);
    redis.close();
  }

  private static String nonNull(String value) {
    return value == null ? "" : value;
  }

  private interface Write {
    void to(String name, String value, FencingToken token);
  }

  private interface Read {
    String from(String name);
  }

  private record Cell(String name, Write writes, Read reads) implements FencedCell {
    @Override
    public void write(String value, FencingToken token) {
      writes.to(name, value, token);
    }

    @Override
    public String read() {
      return nonNull(reads.from(name));
    }
  }

  @Nested
  class Set extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return new Cell(
          "set:" + name, fence.listener(listener)::set, key -> connection.sync().get(key));
    }
  }

  @Nested
  class Hset extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      RedisFence<String, String> told = fence.listener(listener);
      return new Cell(
          "hash:" + name,
          (key, value, token) -> told.hset(key, Map.of("value", value, "other", "x"), token),
          key -> connection.sync().hget(key, "value"));
    }
  }

  @Nested
  class OwnScript extends FenceContract {
    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      RedisFence<String, String> told = fence.listener(listener);
      return new Cell(
          "script:" + name,
          (key, value, token) -> {
            Long written =
                told.eval(
                    APPEND,
                    ScriptOutputType.INTEGER,
                    key,
                    token,
                    List.of(key + ":a", key + ":b"),
                    List.of("beside", value));
            assertThat(written).isEqualTo(2);
          },
          key -> connection.sync().get(key + ":b"));
    }
  }

  @Nested
  class InACluster extends FenceContract {
    private static RedisCluster cluster;
    private static RedisClusterClient clusterClient;
    private static StatefulRedisClusterConnection<String, String> nodes;

    @BeforeAll
    static void start() {
      cluster = RedisCluster.start();
      clusterClient =
          RedisClusterClient.create(
              cluster.nodes().stream().map(node -> RedisURI.create(node.uri())).toList());
      nodes = clusterClient.connect();
    }

    @AfterAll
    static void stop() {
      clusterClient.shutdown(0, 2, java.util.concurrent.TimeUnit.SECONDS);
      cluster.close();
    }

    @Override
    protected FencedCell cell(String name, FenceListener listener) {
      return new Cell(
          name, RedisFence.over(nodes).listener(listener)::set, key -> nodes.sync().get(key));
    }

    @Test
    void keysOfEverySlot_haveTheirMarksBesideThem() {
      RedisFence<String, String> everywhere = RedisFence.over(nodes);
      for (int i = 0; i < 40; i++) {
        String key = i % 2 == 0 ? "plain-" + i : "order:{" + i + "}:state";
        everywhere.set(key, "v", T34);
        assertThatThrownBy(() -> everywhere.set(key, "stale", T33))
            .isInstanceOf(StaleTokenException.class);
        assertThat(everywhere.del(key, T34)).isTrue();
      }
      Long written =
          everywhere.eval(
              APPEND,
              ScriptOutputType.INTEGER,
              "cart:{7}",
              T33,
              List.of("cart:{7}:items", "total:{7}"),
              List.of("three", "9.90"));
      assertThat(written).isEqualTo(2);
      assertThat(nodes.sync().get("total:{7}")).isEqualTo("9.90");
    }
  }

  @Test
  void marks_areInTheSlotOfTheirResource() {
    for (String key : List.of("a", "a{b}c", "{a", "a{b", "{\"id\":5}", "{ü}")) {
      byte[] name = key.getBytes(StandardCharsets.UTF_8);
      assertThat(SlotHash.getSlot(FenceCalls.marksKey(name)))
          .as("slot of the marks of %s", key)
          .isEqualTo(SlotHash.getSlot(name));
    }
  }

  @Test
  void guardedSet_isOneCommand() {
    fence.set("counted", "warm", T33);
    redis.resetCommandCounts();

    fence.set("counted", "first", T34);

    assertThat(redis.commandCount("evalsha")).isEqualTo(1);
    assertThat(redis.commandCount("eval")).isZero();
    // What the script does inside the server: the marks are read and written, and the value is.
    assertThat(redis.commandCount("get")).isEqualTo(1);
    assertThat(redis.commandCount("set")).isEqualTo(2);

    fence.set("counted", "second", T34);
    assertThat(redis.commandCount("evalsha")).isEqualTo(2);
    assertThat(redis.commandCount("set")).as("marks that did not change").isEqualTo(3);
  }

  @Test
  void serverThatForgotTheScript_isToldAgain() {
    redis.command("SCRIPT", "FLUSH");

    fence.set("flushed", "value", T34);

    assertThat(connection.sync().get("flushed")).isEqualTo("value");
  }

  @Test
  void deletedKey_keepsStaleWritersOut() {
    fence.set("deleted", "value", T33);
    assertThat(fence.del("deleted", T34)).isTrue();
    assertThat(fence.del("deleted", T34)).isFalse();

    assertThatThrownBy(() -> fence.set("deleted", "again", T33))
        .isInstanceOf(StaleTokenException.class);
    assertThat(connection.sync().get("deleted")).isNull();
  }

  @Test
  void marks_expire_andWhatTheyGuardNeedNot() {
    fence.keepMarks(Duration.ofHours(2)).set("kept", "value", T33);
    fence.set("shortlived", "value", Duration.ofMinutes(1), T33);

    assertThat(connection.sync().pttl("flf1:{kept}kept")).isBetween(7_100_000L, 7_200_000L);
    assertThat(connection.sync().pttl("kept")).isEqualTo(-1);
    assertThat(connection.sync().pttl("shortlived")).isBetween(1L, 60_000L);
    assertThatThrownBy(() -> fence.keepMarks(Duration.ofMinutes(1)))
        .isInstanceOf(InvalidSettingException.class);
  }

  @Test
  void connectionOfAnotherCodec_keepsItsBytes() {
    try (StatefulRedisConnection<byte[], byte[]> binary = client.connect(ByteArrayCodec.INSTANCE)) {
      byte[] key = {0, (byte) 0xFF, '{', 1, '}'};
      byte[] value = {(byte) 0x80, 0, 13, 10};
      RedisFence.over(binary).set(key, value, T34);

      assertThat(binary.sync().get(key)).isEqualTo(value);
      assertThatThrownBy(() -> RedisFence.over(binary).set(key, value, T33))
          .isInstanceOf(StaleTokenException.class);
    }
  }

  @Test
  void checkAlone_forResourcesElsewhere() {
    Fence elsewhere = fence.asFence(resource -> "fence:" + resource);
    elsewhere.check("ledger", T34);

    assertThatThrownBy(() -> elsewhere.check("ledger", T33))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void scriptThatFails_orCantBeGuarded_saysSo() {
    GuardedScript wrong = GuardedScript.of("return redis.call('INCR', KEYS[1])");
    connection.sync().set("text", "abc");

    assertThatThrownBy(
            () ->
                fence.eval(
                    wrong, ScriptOutputType.INTEGER, "text", T33, List.of("text"), List.of()))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("not an integer");
    assertThatThrownBy(() -> GuardedScript.of("#!lua flags=no-writes\nreturn 1"))
        .isInstanceOf(InvalidSettingException.class);
  }
}
