package io.fenceline.cli.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreUnavailableException;
import io.fenceline.cli.failure.Failure;
import io.fenceline.recipes.once.Once;
import io.fenceline.recipes.once.Vanished;
import io.fenceline.redis.RedisProvider;
import io.fenceline.spi.StoreAddress;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisSentinels;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Where the results of {@code fenceline once} can be kept. */
class RecordsTest {

  /** Every address of a Redis or a Valkey; Redlock keeps nothing but locks. */
  static List<String> redisSchemes() {
    return new RedisProvider()
        .schemes().stream().filter(scheme -> !scheme.equals("redlock")).sorted().toList();
  }

  @ParameterizedTest
  @MethodSource("redisSchemes")
  void everyRedisAndValkey_isAskedForRecords(String scheme) {
    String master = scheme.endsWith("sentinel") ? "?master=m" : "";
    StoreAddress nobody = StoreAddress.parse(scheme + "://127.0.0.1:1" + master);
    assertThatThrownBy(() -> Records.at(nobody))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("Connecting to the records failed");
  }

  @Test
  void whatCanKeepNone_isRefusedWithTheNamesOfThoseThatCan() {
    for (String address :
        List.of("memory:", "redlock://a,b,c", "zookeeper://a", "etcd://a", "jdbc:mysql://a/b")) {
      assertThatThrownBy(() -> Records.at(StoreAddress.parse(address)))
          .isInstanceOf(Failure.class)
          .hasMessageEndingWith(
              "; name SQLite, PostgreSQL, MariaDB, Redis or Valkey by --records URI");
    }
  }

  @Test
  void resultsAreKept_atTheMasterThatSentinelsName_andInACluster() throws Exception {
    try (RedisSentinels sentinels = RedisSentinels.start()) {
      assertResultsAreKept(
          uri("redis-sentinel", sentinels.sentinels()) + "?master=" + RedisSentinels.MASTER_NAME);
    }
    try (RedisCluster cluster = RedisCluster.start()) {
      assertResultsAreKept(uri("redis-cluster", cluster.nodes()));
    }
  }

  private static String uri(String scheme, Collection<? extends ServerProcess> servers) {
    return servers.stream()
        .map(ServerProcess::address)
        .collect(Collectors.joining(",", scheme + "://", ""));
  }

  private static void assertResultsAreKept(String uri) throws Exception {
    try (Fenceline fenceline = Fenceline.connect("memory:");
        Records records = Records.at(StoreAddress.parse(uri))) {
      Once<?, Answer> once =
          Once.of(fenceline, "tool", records.all(), Answer.codec(), Vanished.IN_DOUBT);
      for (int call = 1; call <= 2; call++) {
        int code = call;
        assertThat(once.call("job", "exit", work -> Answer.silent(code)).exitCode()).isOne();
      }
    }
  }
}
