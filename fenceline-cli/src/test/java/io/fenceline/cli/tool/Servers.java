package io.fenceline.cli.tool;

import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/** Every store, on a real server that is started when it is first asked for, and shared. */
public enum Servers {
  SQLITE(() -> ""),
  POSTGRESQL(Servers::postgres),
  MARIADB(Servers::mariaDb),
  REDIS(() -> RedisServer.start().uri()),
  ZOOKEEPER(Servers::zooKeeper),
  ETCD(Servers::etcd);

  private final Supplier<String> starter;
  private String uri;

  Servers(Supplier<String> starter) {
    this.starter = starter;
  }

  /** The address; a folder has an SQLite file of its own. */
  public synchronized String uri(Path folder) {
    if (this == SQLITE) {
      return "sqlite:" + folder.resolve("locks.db");
    }
    if (uri == null) {
      uri = starter.get();
    }
    return uri;
  }

  private static String postgres() {
    PostgresServer server = PostgresServer.builder().fsync(false).trust().start();
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  private static String mariaDb() {
    MariaDbServer server = MariaDbServer.start();
    return server.jdbcUrl() + "?user=" + server.user() + "&password=" + server.password();
  }

  private static String zooKeeper() {
    ZooKeeperServer server = ZooKeeperServer.start(Duration.ofMillis(500));
    return "zookeeper://" + server.address() + "/locks?session=10000ms&tick=500ms";
  }

  private static String etcd() {
    return "etcd://"
        + EtcdServer.start("--heartbeat-interval=50", "--election-timeout=250").address();
  }
}
