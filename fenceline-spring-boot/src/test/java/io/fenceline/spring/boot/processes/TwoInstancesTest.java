package io.fenceline.spring.boot.processes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.testbed.process.JavaProcess;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes of one Boot application, with a real PostgreSQL and a real Redis. */
@Timeout(1800)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class) // Only so that instances are started once.
class TwoInstancesTest {
  private static final Duration BOUND = Duration.ofMinutes(10);
  private static final Duration LONG_BOUND = Duration.ofMinutes(25);
  private static final int THREADS = 16;
  private static final int CALLS = Integer.getInteger("fenceline.spring.calls", 10);

  private static PostgresServer postgres;
  private static RedisServer redis;

  /** Those that run, by their store: starting an application is what costs most here. */
  private static final Map<String, Pair> PAIRS = new HashMap<>();

  /** Two instances of one application. */
  private record Pair(JavaProcess one, JavaProcess two) {
    void close() {
      one.close();
      two.close();
    }
  }

  @BeforeAll
  static void start() {
    postgres = PostgresServer.start();
    redis = RedisServer.start();
    postgres.sql("CREATE TABLE counter (id int PRIMARY KEY, value int NOT NULL)");
    postgres.sql(JdbcFence.create().tablePrefix("app").schema(Database.POSTGRESQL));
  }

  @AfterAll
  static void stop() {
    PAIRS.values().forEach(Pair::close);
    postgres.close();
    redis.close();
  }

  @BeforeEach
  void zero() {
    postgres.sql("DELETE FROM counter; INSERT INTO counter VALUES (1, 0)");
  }

  private static int value() {
    return Integer.parseInt(postgres.sql("SELECT value FROM counter").strip());
  }

  /** An instance that has its locks in the given store. */
  private static JavaProcess instance(String store) {
    JavaProcess.Builder instance =
        JavaProcess.of(Instance.class)
            .heap(256)
            .argument("--spring.datasource.url=" + postgres.jdbcUrl())
            .argument("--spring.datasource.username=" + postgres.user())
            .argument("--spring.datasource.password=" + postgres.password())
            .argument("--spring.datasource.hikari.maximum-pool-size=20")
            .argument("--spring.data.redis.host=" + redis.host())
            .argument("--spring.data.redis.port=" + redis.port())
            .argument("--spring.main.banner-mode=off")
            .argument("--logging.level.root=warn")
            .argument("--fenceline.store=" + store);
    return instance.start();
  }

  private static Pair pair(String store) {
    return PAIRS.computeIfAbsent(
        store,
        any -> {
          Pair started = new Pair(instance(store), instance(store));
          started.one.expect("ready", BOUND);
          started.two.expect("ready", BOUND);
          return started;
        });
  }

  private static void both(List<JavaProcess> instances, String command) {
    instances.forEach(instance -> instance.send(command));
    instances.forEach(
        instance -> assertThat(instance.expect("failures", LONG_BOUND)).isEqualTo("failures 0"));
  }

  /** One is stopped inside its method for longer than its lease, while the other one writes. */
  @Test
  @Order(1)
  void instanceThatStoodStill_isRefusedByTheFence_andDoesDamageWithoutIt() {
    Pair pair = pair("redis");

    assertThat(overtaken(pair.one, pair.two, "fenced")).isEqualTo("outcome: refused by the fence");
    assertThat(value()).as("of the one that was not stopped").isEqualTo(1);

    assertThat(overtaken(pair.one, pair.two, "bare")).isEqualTo("outcome: lost after the write");
    assertThat(value()).as("one of two updates is lost").isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"datasource", "redis"})
  @Order(2)
  void lockedAndTransactional_losesNoUpdate_andShutsDownUnderLoad(String store) {
    Pair pair = pair(store);
    both(List.of(pair.one, pair.two), "increment " + CALLS);
    assertThat(value()).isEqualTo(2 * THREADS * CALLS);

    zero();
    both(List.of(pair.one, pair.two), "inverted 10");
    assertThat(value())
        .as("with the transaction around the lock, updates are lost: this test can fail")
        .isLessThan(2 * THREADS * 10);

    PAIRS.remove(store);
    try {
      pair.two.close();
      shutDownUnderLoad(pair.one, store);
    } finally {
      pair.close();
    }
  }

  private static String overtaken(JavaProcess stopped, JavaProcess other, String how) {
    stopped.send("slowly " + how);
    stopped.expect("inside", BOUND);
    stopped.pause();
    other.send("quickly " + how);
    other.expect("written", BOUND);
    stopped.resume();
    stopped.send("go");
    return stopped.expect("outcome", BOUND);
  }

  /** Ends an instance whose threads are all in the middle of something. */
  private static void shutDownUnderLoad(JavaProcess instance, String store) {
    instance.send("load");
    instance.expect("busy", BOUND);
    instance.terminate();
    instance.awaitExit(BOUND);
    assertThat(String.join("\n", instance.pendingLines()) + instance.errors())
        .as("a client that outlives its pool would warn of it")
        .doesNotContain("has been closed")
        .doesNotContain("Hikari")
        .doesNotContain("Lettuce");
    if (store.equals("datasource")) {
      assertThat(count("fenceline_claims")).as("holds and waiters").isZero();
      assertThat(count("fenceline_locks WHERE owner IS NOT NULL")).isZero();
    } else {
      try (Fenceline look = Fenceline.connect(redis.uri())) {
        assertThat(look.inspect("counter").isFree()).isTrue();
        assertThat(look.inspect("counter").waiters()).isEmpty();
      }
    }
  }

  private static int count(String rows) {
    return Integer.parseInt(postgres.sql("SELECT count(*) FROM " + rows).strip());
  }
}
