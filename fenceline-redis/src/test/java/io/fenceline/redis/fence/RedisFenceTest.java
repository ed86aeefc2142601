package io.fenceline.redis.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.Fence;
import io.fenceline.fence.FenceListener;
import io.fenceline.redis.GuardedScript;
import io.fenceline.redis.RedisFence;
import io.fenceline.redis.support.Clients;
import io.fenceline.redis.support.SmallCluster;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
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

  /** As one needs for a pooled connection of Lettuce 6, which hides its codec. */
  @Test
  void codecThatIsGiven_isUsed() {
    try (StatefulRedisConnection<byte[], byte[]> binary = client.connect(ByteArrayCodec.INSTANCE)) {
      byte[] key = {(byte) 0xFE, 'k'};
      RedisFence<byte[], byte[]> given = RedisFence.over(binary, ByteArrayCodec.INSTANCE);
      given.set(key, key, T34);

      assertThat(binary.sync().get(key)).isEqualTo(key);
      assertThatThrownBy(() -> given.set(key, key, T33)).isInstanceOf(StaleTokenException.class);
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

  private static final GuardedScript COUNT = GuardedScript.of("return redis.call('INCR', KEYS[1])");

  private static Long count(RedisFence<String, String> over, String key) {
    return over.<Long>eval(COUNT, ScriptOutputType.INTEGER, key, T33, List.of(key), List.of());
  }

  @Test
  void scriptWhoseAnswerIsLost_runsOnce_andSaysThatItMayHaveRun() {
    for (boolean known : new boolean[] {true, false}) { // By its hash, and with its body.
      try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
          RedisClient own = RedisClient.create("redis://" + proxy.address())) {
        RedisFence<String, String> proxied = RedisFence.over(own.connect());
        String key = "count-" + known;
        redis.command("SCRIPT", "FLUSH");
        if (known) {
          count(proxied, "warm-up");
        }
        String command = known ? "EVALSHA" : "EVAL";
        Fault lost = proxy.closeBeforeReply(Trigger.first(request -> request.is(command)));

        assertThatThrownBy(() -> count(proxied, key))
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining("may have run");

        assertThat(lost.timesApplied()).isEqualTo(1);
        assertThat(redis.command("GET", key)).isEqualTo("1");
        assertThat(count(proxied, key)).isEqualTo(2); // The connection is as good as before.
        assertThat(connection.sync().get(key)).isEqualTo("2");
      }
    }
  }

  @Test
  void scriptWhoseConnectionIsReset_saysThatItMayHaveRun() {
    try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
        RedisClient own = RedisClient.create("redis://" + proxy.address())) {
      RedisFence<String, String> proxied = RedisFence.over(own.connect());
      count(proxied, "reset");
      Fault lost = proxy.cutBeforeReply(Trigger.first(request -> request.is("EVALSHA")));

      assertThatThrownBy(() -> count(proxied, "reset"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("may have run");

      assertThat(lost.timesApplied()).isEqualTo(1);
      assertThat(redis.command("GET", "reset")).isEqualTo("2");
    }
  }

  @Test
  void commandThatWasGivenUp_isNotSentLater() {
    try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP);
        RedisClient own = RedisClient.create("redis://" + proxy.address())) {
      StatefulRedisConnection<String, String> late = own.connect();
      late.setTimeout(Duration.ofMillis(300));
      RedisFence<String, String> proxied = RedisFence.over(late);
      proxied.set("given-up", "first", T33);
      Fault away = proxy.refuseConnections();
      proxy.closeAll();
      Eventually.until(Clients.AMPLE, "the connection to be lost", () -> away.timesApplied() > 0);

      assertThatThrownBy(() -> proxied.set("given-up", "second", T33))
          .isInstanceOf(StoreUnavailableException.class);
      fence.set("given-up", "third", T33);
      away.lift();
      Eventually.until(Clients.AMPLE, "a connection", () -> isAnswered(late));

      assertThat(connection.sync().get("given-up")).isEqualTo("third");
    }
  }

  private static boolean isAnswered(StatefulRedisConnection<String, String> connection) {
    try {
      return connection.sync().ping().equals("PONG");
    } catch (RuntimeException e) {
      return false;
    }
  }

  @Test
  void scriptThatIsSentToAnotherNode_runsThere_once() {
    try (SmallCluster cluster = new SmallCluster(0, 2);
        RedisClusterClient nodes = RedisClusterClient.create(cluster.sharing(0).uri())) {
      StatefulRedisClusterConnection<String, String> connected = nodes.connect();
      RedisFence<String, String> clustered = RedisFence.over(connected);
      int slot = SlotHash.getSlot("count");
      RedisServer source = cluster.sharing(slot * 2 / SlotHash.SLOT_COUNT);
      RedisServer target = cluster.sharing(1 - slot * 2 / SlotHash.SLOT_COUNT);
      String id = String.valueOf(target.command("CLUSTER", "MYID"));
      for (RedisServer node : List.of(target, source)) {
        node.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id);
      }

      assertThat(count(clustered, "count")).isEqualTo(1);
      assertThat(count(clustered, "count")).isEqualTo(2);
    }
  }
}
