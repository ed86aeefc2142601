package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.LockOptions;
import io.fenceline.testbed.process.ServerProcess;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every store, with something to guard beside its locks. A store joins by one line. */
enum Store {
  SQLITE(Store::sqlite),
  POSTGRESQL(Store::postgresql),
  MARIADB(Store::mariadb),
  REDIS(Store::redis),
  REDLOCK(Store::redlock),
  ZOOKEEPER(Store::zookeeper),
  ETCD(Store::etcd);

  /**
   * A store that runs; it ends with this process.
   *
   * @param locks where its locks are
   * @param resource where the data is
   * @param address of the resource's server, as in its URI; empty where it is a file
   * @param protocol of that server
   */
  record Running(String locks, String resource, String address, Protocol protocol) {

    /** A client that keeps its locks on a busy machine, too. */
    Fenceline connect() {
      return client().connect();
    }

    /** As {@link #connect}, with other settings, too. */
    FencelineBuilder client() {
      return Fenceline.builder()
          .store(locks.replace(SHORT_SESSION, LONG_SESSION))
          .connectTimeout(Duration.ofMinutes(1))
          .defaultOptions(LockOptions.defaults().lease(LONG_LEASE));
    }

    /** A proxy before the resource. */
    FaultProxy proxy() {
      String[] parts = address.split(":");
      return FaultProxy.to(parts[0], Integer.parseInt(parts[1]), protocol);
    }

    /** The resource through a proxy. */
    String resourceBehind(FaultProxy proxy) {
      return resource.replace(address, proxy.address());
    }
  }

  /** Of a holder that is to lose its lock soon; etcd counts in whole seconds. */
  static final Duration LEASE = Duration.ofSeconds(2);

  private static final Duration LONG_LEASE = Duration.ofSeconds(20);

  /** ZooKeeper's lease ends with the session. */
  private static final String SHORT_SESSION = "session=4s";

  private static final String LONG_SESSION = "session=40s";

  private final Supplier<Running> starter;
  private Running running;

  Store(Supplier<Running> starter) {
    this.starter = starter;
  }

  /** Whether the resource is behind a server that a proxy can stand before. */
  boolean hasServer() {
    return this != SQLITE;
  }

  synchronized Running running() {
    if (running == null) {
      running = starter.get();
    }
    return running;
  }

  private static Running sqlite() {
    try {
      String folder = Files.createTempDirectory("fenceline-scenario").toString();
      return new Running(
          "sqlite:" + folder + "/locks.db",
          "jdbc:sqlite:" + folder + "/data.db?busy_timeout=60000",
          "",
          Protocol.BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Running postgresql() {
    PostgresServer server = PostgresServer.builder().fsync(false).start();
    String login = "?user=" + server.user() + "&password=" + server.password();
    String url = server.jdbcUrl() + login;
    return new Running(url, url, server.address(), Protocol.POSTGRES);
  }

  private static Running mariadb() {
    MariaDbServer server = MariaDbServer.start();
    String login = "?user=" + server.user() + "&password=" + server.password();
    String url = server.jdbcUrl() + login;
    return new Running(url, url, server.address(), Protocol.MYSQL);
  }

  private static Running redis() {
    RedisServer server = RedisServer.start();
    return new Running(server.uri(), server.uri(), server.address(), Protocol.RESP);
  }

  /** Locks on a majority of three servers; the data is on a fourth. */
  private static Running redlock() {
    String nodes =
        Stream.generate(RedisServer::start)
            .limit(3)
            .map(RedisServer::address)
            .collect(Collectors.joining(","));
    Running data = redis();
    return new Running(
        "redlock://" + nodes + "?nodeTimeout=1s", data.resource, data.address, data.protocol);
  }

  private static Running zookeeper() {
    ZooKeeperServer server = ZooKeeperServer.start(Duration.ofMillis(300));
    return of("zookeeper", server, "/locks?" + SHORT_SESSION + "&tick=300ms", Protocol.ZOOKEEPER);
  }

  private static Running etcd() {
    EtcdServer server = EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250");
    return of("etcd", server, "", Protocol.HTTP2);
  }

  private static Running of(String scheme, ServerProcess server, String more, Protocol protocol) {
    String uri = scheme + "://" + server.address();
    return new Running(uri + more, uri, server.address(), protocol);
  }
}
