package io.fenceline.examples;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.fenceline.FencingToken;
import io.fenceline.etcd.EtcdFence;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.redis.RedisFence;
import io.fenceline.zookeeper.ZooKeeperFence;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

/** Values that can be written with a fence and without; over a connection of its own. */
interface Resource extends AutoCloseable {
  Duration AMPLE = Duration.ofSeconds(60);

  /** Writes with a fence in the same step. */
  void writeFenced(String name, String value, FencingToken token) throws Exception;

  /** Writes without. */
  void writeOpen(String name, String value) throws Exception;

  String read(String name) throws Exception;

  /** Makes sure that there is something to write to. */
  void prepare(List<String> names) throws Exception;

  static Resource open(String uri) throws Exception {
    if (uri.startsWith("jdbc:")) {
      return new InDatabase(uri);
    }
    String address = uri.substring(uri.indexOf("//") + 2);
    return switch (uri.substring(0, uri.indexOf(':'))) {
      case "redis" -> new InRedis(uri);
      case "zookeeper" -> new InZooKeeper(address);
      case "etcd" -> new InEtcd(address);
      default -> throw new IllegalArgumentException(uri);
    };
  }

  final class InDatabase implements Resource {
    private final JdbcFence fence = JdbcFence.create();
    private final Connection connection;

    InDatabase(String url) throws SQLException {
      connection = DriverManager.getConnection(url);
      connection.setAutoCommit(false);
    }

    @Override
    public void prepare(List<String> names) throws SQLException {
      fence.createTable(connection);
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate(
            "CREATE TABLE IF NOT EXISTS cells (name VARCHAR(40) PRIMARY KEY, content VARCHAR(40))");
        for (String name : names) {
          statement.executeUpdate("INSERT INTO cells VALUES ('" + name + "', '')");
        }
      }
      connection.commit();
    }

    @Override
    public void writeFenced(String name, String value, FencingToken token) throws SQLException {
      try {
        fence.check(connection, name, token);
        update(name, value);
      } finally {
        connection.rollback(); // Nothing after a commit.
      }
    }

    @Override
    public void writeOpen(String name, String value) throws SQLException {
      update(name, value);
    }

    private void update(String name, String value) throws SQLException {
      try (PreparedStatement update =
          connection.prepareStatement("UPDATE cells SET content = ? WHERE name = ?")) {
        update.setString(1, value);
        update.setString(2, name);
        update.executeUpdate();
      }
      connection.commit();
    }

    @Override
    public String read(String name) throws SQLException {
      try (PreparedStatement query =
          connection.prepareStatement("SELECT content FROM cells WHERE name = ?")) {
        query.setString(1, name);
        try (ResultSet row = query.executeQuery()) {
          row.next();
          return row.getString(1);
        }
      } finally {
        connection.commit();
      }
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }

  final class InRedis implements Resource {
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisFence<String, String> fence;

    InRedis(String uri) {
      client = RedisClient.create(uri);
      connection = client.connect();
      fence = RedisFence.over(connection);
    }

    @Override
    public void prepare(List<String> names) {}

    @Override
    public void writeFenced(String name, String value, FencingToken token) {
      fence.set(name, value, token);
    }

    @Override
    public void writeOpen(String name, String value) {
      connection.sync().set(name, value);
    }

    @Override
    public String read(String name) {
      return connection.sync().get(name);
    }

    @Override
    public void close() {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  final class InZooKeeper implements Resource {
    private final CuratorFramework curator;
    private final ZooKeeperFence fence;

    InZooKeeper(String address) {
      curator =
          CuratorFrameworkFactory.newClient(address, 6_000, 30_000, new RetryNTimes(100, 100));
      curator.start();
      fence = ZooKeeperFence.over(curator);
    }

    @Override
    public void prepare(List<String> names) throws Exception {
      for (String name : names) {
        curator.create().forPath("/" + name, new byte[0]);
      }
    }

    @Override
    public void writeFenced(String name, String value, FencingToken token) {
      fence.setData("/" + name, value.getBytes(StandardCharsets.UTF_8), token);
    }

    @Override
    public void writeOpen(String name, String value) throws Exception {
      curator.setData().forPath("/" + name, value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String read(String name) throws Exception {
      return new String(curator.getData().forPath("/" + name), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
      curator.close();
    }
  }

  final class InEtcd implements Resource {
    private final Client client;
    private final EtcdFence fence;

    InEtcd(String address) {
      client = Client.builder().endpoints("http://" + address).build();
      fence = EtcdFence.over(client).timeout(AMPLE);
    }

    @Override
    public void prepare(List<String> names) {}

    @Override
    public void writeFenced(String name, String value, FencingToken token) {
      fence.put(name, value.getBytes(StandardCharsets.UTF_8), token);
    }

    @Override
    public void writeOpen(String name, String value) throws Exception {
      client.getKVClient().put(bytes(name), bytes(value)).get(60, TimeUnit.SECONDS);
    }

    @Override
    public String read(String name) throws Exception {
      List<KeyValue> found =
          client.getKVClient().get(bytes(name)).get(60, TimeUnit.SECONDS).getKvs();
      return found.get(0).getValue().toString(StandardCharsets.UTF_8);
    }

    private static ByteSequence bytes(String text) {
      return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
