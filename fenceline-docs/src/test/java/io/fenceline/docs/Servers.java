package io.fenceline.docs;

import io.fenceline.testbed.server.EtcdServer;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.util.HashMap;
import java.util.Map;

/**
 * Real servers in the place of those that a page names: a marker {@code with redis} has {@code
 * redis://localhost:6379} mean one of ours.
 */
final class Servers implements AutoCloseable {
  private record Started(String address, AutoCloseable server) {}

  private final Map<String, Started> started = new HashMap<>();

  /** What a page calls a server of this kind. */
  static String example(String kind) {
    return switch (kind) {
      case "redis" -> "redis://localhost:6379";
      case "postgresql" -> "jdbc:postgresql://localhost/app?user=app&password=secret";
      case "mariadb" -> "jdbc:mariadb://localhost/app?user=app&password=secret";
      case "zookeeper" -> "zookeeper://localhost:2181";
      case "etcd" -> "etcd://localhost:2379";
      default -> throw new AssertionError("no such server: " + kind);
    };
  }

  /** The text with the address of a running server instead of the example. */
  synchronized String in(String text, String kind) {
    if (!text.contains(example(kind))) {
      throw new AssertionError("marked 'with " + kind + "', but says nowhere " + example(kind));
    }
    return text.replace(
        example(kind), started.computeIfAbsent(kind, Servers::start).address().strip());
  }

  private static Started start(String kind) {
    switch (kind) {
      case "redis" -> {
        RedisServer redis = RedisServer.start();
        return new Started(redis.uri(), redis);
      }
      case "postgresql" -> {
        PostgresServer postgres = PostgresServer.start();
        return new Started(
            withLogin(postgres.jdbcUrl(), postgres.user(), postgres.password()), postgres);
      }
      case "mariadb" -> {
        MariaDbServer mariaDb = MariaDbServer.start();
        return new Started(
            withLogin(mariaDb.jdbcUrl(), mariaDb.user(), mariaDb.password()), mariaDb);
      }
      case "zookeeper" -> {
        ZooKeeperServer zooKeeper = ZooKeeperServer.start();
        return new Started("zookeeper://" + zooKeeper.address(), zooKeeper);
      }
      case "etcd" -> {
        EtcdServer etcd = EtcdServer.start();
        return new Started(etcd.endpoint().replace("http://", "etcd://"), etcd);
      }
      default -> throw new AssertionError("no such server: " + kind);
    }
  }

  private static String withLogin(String url, String user, String password) {
    return url.contains("user=")
        ? url
        : url + (url.contains("?") ? "&" : "?") + "user=" + user + "&password=" + password;
  }

  @Override
  public synchronized void close() throws Exception {
    for (Started one : started.values()) {
      one.server().close();
    }
    started.clear();
  }
}
