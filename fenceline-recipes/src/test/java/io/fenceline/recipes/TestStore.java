package io.fenceline.recipes;

import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.InnoDbServer;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisCluster;
import io.fenceline.testbed.server.RedisKind;
import io.fenceline.testbed.server.RedisSentinels;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Stores with real servers, one of each kind, which is started when it is first asked for. */
public enum TestStore {
  SQLITE(TestStore::sqlite, 0),
  REDIS(TestStore::redis, 0),
  VALKEY(TestStore::valkey, 0),
  REDIS_SENTINEL(TestStore::sentinels, 0),
  REDIS_CLUSTER(TestStore::cluster, 0),
  REDLOCK(TestStore::redlock, 0),
  POSTGRESQL(TestStore::postgresql, 0),
  MARIADB(TestStore::mariaDb, 0),
  MYSQL(TestStore::mySql, 0),
  /** A session must outlive what it proves: see its store. */
  ZOOKEEPER(TestStore::zooKeeper, 2),
  /** Grants whole seconds, and looks for leases that have ended twice a second. */
  ETCD(TestStore::etcd, 1);

  /** Of the locks. */
  public static final Duration LEASE = Duration.ofSeconds(3);

  private final Supplier<String> starter;
  private final Duration vacancy;
  private String uri;

  TestStore(Supplier<String> starter, int moreSeconds) {
    this.starter = starter;
    this.vacancy = Duration.ofSeconds(3 + moreSeconds);
  }

  /**
   * For {@code Fenceline.connect}, and for JDBC where it is a database; it ends with this JVM.
   * Where there is no such server for this machine, the test that asks is skipped.
   */
  public synchronized String uri() {
    if (uri == null) {
      uri = starter.get();
    }
    return uri;
  }

  /** How long a name may stay closed after a holder that died. */
  public Duration vacancy() {
    return vacancy;
  }

  private static String sqlite() {
    try {
      Path memory = Path.of("/dev/shm");
      Path folder =
          Files.isWritable(memory)
              ? Files.createTempDirectory(memory, "fenceline-recipes")
              : Files.createTempDirectory("fenceline-recipes");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
      return "sqlite:" + folder.resolve("locks.db");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      // What is left is in memory, and ends with the machine.
    }
  }

  private static String redis() {
    return RedisServer.start().uri();
  }

  private static String valkey() {
    assumeFalse(Debian.lacksValkey(), "no server for this machine: Valkey");
    return RedisServer.builder().kind(RedisKind.VALKEY).start().uri();
  }

  private static String sentinels() {
    return "redis-sentinel://"
        + addresses(RedisSentinels.start().sentinels())
        + "?master="
        + RedisSentinels.MASTER_NAME;
  }

  private static String cluster() {
    return "redis-cluster://" + addresses(RedisCluster.start().nodes());
  }

  private static String redlock() {
    return "redlock://"
        + addresses(List.of(RedisServer.start(), RedisServer.start(), RedisServer.start()));
  }

  private static String addresses(List<? extends ServerProcess> servers) {
    return servers.stream().map(ServerProcess::address).collect(Collectors.joining(","));
  }

  private static String mariaDb() {
    return withLogin(MariaDbServer.start());
  }

  private static String mySql() {
    assumeTrue(MySqlServer.isForThisMachine(), "no server for this machine: MySQL");
    // Without TLS, the driver asks for the server's key before it sends a password.
    return withLogin(MySqlServer.start()) + "&allowPublicKeyRetrieval=true";
  }

  private static String withLogin(InnoDbServer server) {
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  private static String postgresql() {
    PostgresServer server = PostgresServer.builder().fsync(false).trust().start();
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  private static String zooKeeper() {
    ZooKeeperServer server = ZooKeeperServer.start(Duration.ofMillis(300));
    String session = "?session=" + LEASE.plusSeconds(2).toMillis() + "ms&tick=300ms";
    return "zookeeper://" + server.address() + "/locks" + session;
  }

  private static String etcd() {
    EtcdServer server = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
    return "etcd://" + server.address();
  }
}
